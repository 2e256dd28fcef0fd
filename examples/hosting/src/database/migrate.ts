/** Brings the schema to what this program knows; several controllers may begin at once. */
import type { Sql } from './sql.js'

export interface Migration {
  readonly id: number
  readonly statements: string
}

/** Of the lock that one of them holds meanwhile: any number that nobody else uses in this database. */
const LOCK = 7_316_501

export async function migrate(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`
    await sql`create table if not exists migration (id integer primary key, applied_at timestamptz not null default now())`
    const applied = new Set((await sql`select id from migration`).map((row) => (row as { readonly id: number }).id))
    const unknown = [...applied].find((id) => migrations.every((each) => each.id !== id))
    if (unknown !== undefined) throw new Error(`the database is of a later version: it has migration ${unknown}`)
    for (const { id, statements } of migrations) {
      if (applied.has(id)) continue
      await sql.unsafe(statements)
      await sql`insert into migration (id) values (${id})`
    }
  })
}
