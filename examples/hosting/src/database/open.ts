/** The database of a host, its schema as this program knows it. */
import { type Activity, createActivity } from './activity.js'
import { type Bindings, createBindings } from './bindings.js'
import { connect } from './connect.js'
import { createLeases, type Leases } from './leases.js'
import { migrate } from './migrate.js'
import { MIGRATIONS } from './migrations.js'
import type { Database } from './sql.js'

export interface HostDatabase extends Database {
  readonly bindings: Bindings
  readonly leases: Leases
  readonly activity: Activity
}

export async function openDatabase(url: string): Promise<HostDatabase> {
  const database = connect(url)
  await migrate(database.sql, MIGRATIONS)
  const { sql } = database
  return { ...database, bindings: createBindings(sql), leases: createLeases(sql), activity: createActivity(sql) }
}
