/** What a query may cost: nothing of it makes what is handed to the full text search long, or much. */
import { expect, it } from 'vitest'
import { createLookup } from '../../../src/store/search/lookup.js'
import { openIndexFile } from '../../../src/store/search/index-file.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { queryWords } from '../../../src/protocol/search/words.js'
import { catchUp, find, storeWith } from './corpus.js'

/** Every text that is handed to the full text search by a query, and the most of them in one part. */
function expressionsOf(query: string): { readonly all: string[]; readonly guesses: string[]; readonly atOnce: number } {
  const { handle } = openIndexFile(undefined)
  const all: string[] = []
  const guesses: string[] = []
  const noted = new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'prepare') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      return (sql: string) => {
        const statement = target.prepare(sql)
        const note = (args: unknown[]) => {
          if (!sql.includes('match ?')) return
          all.push(String(args[0]))
          if (sql.includes('from spelling')) guesses.push(String(args[0]))
        }
        return {
          all: (...args: unknown[]) => (note(args), statement.all(...args)),
          get: (...args: unknown[]) => statement.get(...args),
          iterate: (...args: unknown[]) => (note(args), statement.iterate(...args)),
        }
      }
    },
  })
  let atOnce = 0
  const parts = createLookup(noted).parts(query, 10)
  for (let isDone = false, before = 0; !isDone; before = all.length) {
    isDone = parts.next().done === true
    atOnce = Math.max(atOnce, all.length - before)
  }
  handle.close()
  return { all, guesses, atOnce }
}

const words = (count: number) => Array.from({ length: count }, (_, at) => `mistaken${'abcdefghijklmnopqrstuvwxyz'[at % 26]}${at}`).join(' ')
const QUERIES = [
  ['a word', 'mistaken'],
  ['many words', words(200)],
  ['one long word', 'x'.repeat(2000)],
  ['one long identifier', 'aB1'.repeat(600)],
  ['a long run without spaces', '漢字'.repeat(900)],
  ['both', 'ก1'.repeat(900)],
  ['marks', `e${'\u0301'.repeat(1900)}`],
  ['operators', 'a OR b NOT c NEAR(d e) {f}:g ^h*'],
] as const

it.each(QUERIES)('costs no more than may be: %s', (_name, query) => {
  const { all, guesses, atOnce } = expressionsOf(query)
  const { words: count, word, mistyped } = LIMITS.search
  expect(all.length).toBeGreaterThan(0)
  expect(atOnce).toBe(1)
  expect(all.length).toBeLessThanOrEqual(mistyped + 5)
  expect(guesses.length).toBeLessThanOrEqual(mistyped)
  for (const expression of all) expect(expression.length).toBeLessThan(count * word * 8)
  for (const expression of guesses) expect(expression.split(' OR ').length).toBeLessThan(word)
  expect(queryWords(query).every((each) => each.length <= word)).toBe(true)
})

it('finds what begins like a word that is too long', () => {
  const name = 'parseTheHeaderOfARequestThatIsLongerThanAnythingThatSomebodyWouldEverWriteByHandInAProgram'
  const store = storeWith([{ id: 'msg_1', text: `see ${name} there` }])
  catchUp(store)
  expect(find(store, name)).toEqual(['msg_1'])
  expect(find(store, '漢'.repeat(500))).toEqual([])
  store.close()
})
