// Holds that a list reads what it lists: SQLite is asked how it would go about the statements of lists.
import { expect, it } from 'vitest'
import type { SessionFilter } from '../../src/store/store.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { createConnection } from '../../src/store/disk/connection.js'
import { createSessionTable } from '../../src/store/sessions.js'

type Database = ReturnType<typeof openDatabase>

/** What a statement is going to do, for each that `work` makes. */
function plansOf(work: (table: ReturnType<typeof createSessionTable>) => void): string[] {
  const database: Database = openDatabase(':memory:', 1)
  const connection = createConnection(() => database, { reopens: false })
  const plans: string[] = []
  work(
    createSessionTable({
      inTransaction: false,
      query: <P extends readonly unknown[], R>(sql: string) => {
        const query = connection.query<P, R>(sql)
        const plan = connection.query<P, { detail: string }>(`explain query plan ${sql}`)
        const tell = (params: P) =>
          plans.push(
            plan
              .all(...params)
              .map(({ detail }) => detail)
              .join('; '),
          )
        return {
          ...query,
          all: (...params: P) => (tell(params), query.all(...params)),
          get: (...params: P) => (tell(params), query.get(...params)),
        }
      },
    }),
  )
  return plans
}

it('no list, and no count, looks through all sessions or puts them in order', () => {
  const filters: Partial<SessionFilter>[] = [
    {},
    { directory: '/srv' },
    { path: 'a' },
    { updatedSince: 1 },
    { includeArchived: true },
    { search: 'a' },
  ]
  const plans = plansOf((table) => {
    for (const filter of filters)
      for (const rootsOnly of [true, false])
        for (const after of [undefined, { updated: 1, id: 'a' }]) table.list({ tenantId: 'local', limit: 5, ...filter, rootsOnly, after })
    table.count('local')
  })
  expect(plans).toHaveLength(4 * filters.length + 1)
  for (const plan of plans) {
    expect(plan).toContain('SEARCH sessions USING')
    expect(plan).not.toMatch(/SCAN sessions|TEMP B-TREE/)
  }
})
