/** The only file that knows the driver. */
import postgres from 'postgres'
import type { Database, Sql } from './sql.js'

const WAIT = { connect: 5, end: 2 }

export function connect(url: string): Database {
  const sql = postgres(url, {
    max: 8,
    connect_timeout: WAIT.connect,
    // A database that restarts is back within seconds.
    backoff: (tries: number) => Math.min(1, 0.05 * 2 ** tries),
    onnotice: () => undefined,
    connection: { application_name: 'svc-hosting', statement_timeout: 5000 },
  })
  return {
    sql: sql as unknown as Sql,
    async listen(channel, onTold, onReady) {
      await sql.listen(channel, onTold, onReady)
    },
    close: () => sql.end({ timeout: WAIT.end }),
  }
}
