import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { type Collection, collection } from '../../src/kernel/collection.js'

const Errand = z.object({ id: z.string(), who: z.string(), at: z.number(), isDone: z.boolean() })
type Errand = z.infer<typeof Errand>

interface Row {
  readonly id: string
  readonly group: string
  readonly sort: number
  readonly data: unknown
}

/** Rows as a database has them: a commit that throws leaves nothing, and what is stored is text. */
function database() {
  let kinds = new Map<string, Map<string, string>>()
  const rowsOf = (kind: string) => {
    const rows = kinds.get(kind) ?? new Map<string, string>()
    kinds.set(kind, rows)
    return rows
  }
  const read = (text: string | undefined) => (text === undefined ? undefined : (JSON.parse(text) as Row))
  const asked: string[] = []
  const followers = new Map<string, (id: string) => void>()
  const get = (kind: string, id: string) => {
    asked.push(`${kind} ${id}`)
    return read(rowsOf(kind).get(id))
  }
  return {
    /** What was read by id. */
    asked,
    part: (kind: string, id: string) => followers.get(kind)?.(id),
    rows: {
      get,
      parting: (kind: string, gone: (id: string) => void) => void followers.set(kind, gone),
      list(kind: string, { group, order = 'asc', limit }: { group?: string; order?: 'asc' | 'desc'; limit?: number } = {}) {
        const all = [...rowsOf(kind).values()].flatMap((text) => read(text) ?? [])
        const found = all.filter((row) => group === undefined || row.group === group).toSorted((a, b) => a.sort - b.sort)
        return (order === 'asc' ? found : found.toReversed()).slice(0, limit)
      },
    },
    commit<R>(change: (tx: Parameters<Collection<Errand>['put']>[0]) => R): R {
      const before = new Map([...kinds].map(([kind, rows]) => [kind, new Map(rows)]))
      const after: (() => void)[] = []
      try {
        const result = change({
          insert(kind, row) {
            if (rowsOf(kind).has(row.id)) return false
            rowsOf(kind).set(row.id, JSON.stringify(row))
            return true
          },
          put: (kind, row) => void rowsOf(kind).set(row.id, JSON.stringify(row)),
          delete: (kind, id) => void rowsOf(kind).delete(id),
          after: (run) => void after.push(run),
        })
        for (const run of after) run()
        return result
      } catch (error) {
        kinds = before
        throw error
      }
    },
  }
}

const PLACE = {
  kind: 'errand',
  parse: (data: unknown) => Errand.parse(data),
  row: ({ id, who, at }: Errand) => ({ id, group: who, sort: at }),
}

/** Errands end. */
function errands({ rows }: Pick<ReturnType<typeof database>, 'rows'>) {
  return collection<Errand>(rows, { ...PLACE, open: { kind: 'open-errand', is: ({ isDone }) => !isDone } })
}

const errand = (id: string, at: number, isDone = false, who = 'ann'): Errand => ({ id, who, at, isDone })

describe('values with rows of their own', () => {
  it('are known once their commit was made, and not within it', () => {
    const data = database()
    const all = errands(data)
    const within = data.commit((tx) => {
      all.put(tx, errand('a', 1))
      return [all.open(), all.of('ann').map(({ id }) => id)]
    })
    expect(within).toEqual([[], ['a']])
    expect(all.open()).toEqual([errand('a', 1)])
  })

  it('leave no trace of a commit that fails', () => {
    const data = database()
    const all = errands(data)
    data.commit((tx) => [errand('a', 1), errand('b', 2)].forEach((each) => all.put(tx, each)))
    const seen = () => [all.open(), all.all(), all.get('a'), all.get('b'), all.get('c'), errands(data).open()]
    const before = seen()
    const failing = () =>
      data.commit((tx) => {
        all.put(tx, errand('a', 1, true))
        all.delete(tx, 'b')
        all.put(tx, errand('c', 3))
        throw new Error('the disk is full')
      })
    expect(failing).toThrow('the disk is full')
    expect(seen()).toEqual(before)
  })

  it('that have ended are read from their rows, and those that are open are not', () => {
    const data = database()
    const first = errands(data)
    data.commit((tx) => [errand('old', 1, true), errand('new', 2)].forEach((each) => first.put(tx, each)))
    const next = errands(data)
    expect(data.asked).toEqual(['errand new'])
    expect([next.get('new'), next.get('old'), next.get('none')]).toEqual([errand('new', 2), errand('old', 1, true), undefined])
    expect(data.asked).toEqual(['errand new', 'errand old', 'errand none'])
    expect(next.all()).toEqual([errand('old', 1, true), errand('new', 2)])
  })

  it('are open again where they were put so, whatever else the commit has put', () => {
    const data = database()
    const all = errands(data)
    data.commit((tx) => all.put(tx, errand('a', 1)))
    data.commit((tx) => [errand('a', 1, true), errand('a', 1)].forEach((each) => all.put(tx, each)))
    expect([all.open(), errands(data).open()]).toEqual([[errand('a', 1)], [errand('a', 1)]])
    data.commit((tx) => all.delete(tx, 'a'))
    expect([all.open(), all.all(), errands(data).open()]).toEqual([[], [], []])
  })

  it('that went with what they were of are forgotten', () => {
    const data = database()
    const all = errands(data)
    data.commit((tx) => [errand('a', 1), errand('b', 2)].forEach((each) => all.put(tx, each)))
    data.part('errand', 'a')
    expect(all.open()).toEqual([errand('b', 2)])
  })

  it('are listed by their groups, from either end', () => {
    const data = database()
    const all = errands(data)
    data.commit((tx) => [3, 1, 2].forEach((at) => all.put(tx, errand(`e${at}`, at, true))))
    data.commit((tx) => all.put(tx, errand('other', 1, true, 'bob')))
    expect(all.of('ann').map(({ id }) => id)).toEqual(['e1', 'e2', 'e3'])
    expect(all.of('ann', { order: 'desc', limit: 1 }).map(({ id }) => id)).toEqual(['e3'])
  })

  it('are opened in the order of their marks', () => {
    const data = database()
    const options = { ...PLACE, open: { kind: 'open-errand', is: () => true, sort: ({ at }: Errand) => -at } }
    const all = collection<Errand>(data.rows, options)
    data.commit((tx) => [1, 2].forEach((at) => all.put(tx, errand(`e${at}`, at))))
    expect(collection<Errand>(data.rows, options).open()).toEqual([errand('e2', 2), errand('e1', 1)])
  })

  it('stay in memory where none ever ends', () => {
    const data = database()
    const first = collection<Errand>(data.rows, PLACE)
    data.commit((tx) => first.put(tx, errand('a', 1, true)))
    const next = collection<Errand>(data.rows, PLACE)
    expect([next.get('a'), next.get('b'), next.all(), next.open(), data.asked]).toEqual([
      errand('a', 1, true),
      undefined,
      [errand('a', 1, true)],
      [errand('a', 1, true)],
      [],
    ])
  })

  it('are not believed before they were parsed', () => {
    const data = database()
    data.commit((tx) => tx.put('errand', { id: 'a', group: 'ann', sort: 1, data: { id: 'a', who: 7 } }))
    expect(() => errands(data).get('a')).toThrow('the row of the errand "a" cannot be read')
    expect(() => collection<Errand>(data.rows, PLACE)).toThrow('the row of the errand "a" cannot be read')
  })
})
