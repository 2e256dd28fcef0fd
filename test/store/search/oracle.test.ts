import { expect, it } from 'vitest'
import { catchUp, dice, find, pick, storeWith, vocabulary } from './corpus.js'

const MESSAGES = 1_500
const AT = 10

const roll = dice(11)
const words = vocabulary(3_000, roll)
const said = Array.from({ length: MESSAGES }, (_, at) => ({
  id: `msg_${at}`,
  text: Array.from({ length: 20 + Math.floor(roll() * 30) }, () => pick(words, roll)).join(' '),
}))
const tokens = said.map(({ id, text }) => ({ id, words: text.split(' ') }))
const average = tokens.reduce((sum, each) => sum + each.words.length, 0) / MESSAGES

/** BM25 of every message, one by one (k1 1.2, b 0.75): messages that have all words, and what each scores. */
function scores(query: readonly string[]): Map<string, number> {
  const holders = query.map((word) => tokens.filter((each) => each.words.includes(word)).length)
  const fitting = tokens.filter((each) => query.every((word) => each.words.includes(word)))
  return new Map(
    fitting.map((each) => {
      const score = query.map((word, at) => {
        const held = holders[at] ?? 0
        const weight = Math.max(1e-6, Math.log((MESSAGES - held + 0.5) / (held + 0.5)))
        const times = each.words.filter((other) => other === word).length
        return (weight * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * each.words.length) / average))
      })
      return [each.id, score.reduce((sum, one) => sum + one, 0)]
    }),
  )
}

/** How much of the best ten is among the ten that were found; what scores as much as the tenth is as good. */
function recall(query: readonly string[], found: readonly string[]): number {
  const all = scores(query)
  const best = [...all.values()].toSorted((a, b) => b - a).slice(0, AT)
  const least = (best.at(-1) ?? 0) - 1e-6
  return found.slice(0, AT).filter((id) => (all.get(id) ?? -1) >= least).length / best.length
}

const store = storeWith(said)
catchUp(store)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const samples = Array.from({ length: 60 }, () => tokens[Math.floor(roll() * MESSAGES)]?.words ?? [])

it('one word finds the ten best that a look at every message finds', () => {
  const queries = samples.map((sample) => sample.slice(5, 6))
  expect(mean(queries.map((query) => recall(query, find(store, query.join(' '), AT))))).toBeGreaterThanOrEqual(0.95)
})

it('two words that stand apart do', () => {
  const queries = samples.map((sample) => [...new Set([sample[2] ?? '', sample[12] ?? ''])])
  expect(mean(queries.map((query) => recall(query, find(store, query.join(' '), AT))))).toBeGreaterThanOrEqual(0.95)
})

it('a phrase is found first wherever it stands', () => {
  const hits = samples.map((sample) => {
    const phrase = sample.slice(4, 8).join(' ')
    const holders = said.filter(({ text }) => ` ${text} `.includes(` ${phrase} `)).map(({ id }) => id)
    return holders.every((id) => find(store, phrase, AT).slice(0, holders.length).includes(id)) ? 1 : 0
  })
  expect(mean(hits)).toBe(1)
})

it('a mistyped word finds what the word does', () => {
  const known = words.filter((word) => word.length >= 7).slice(0, 60)
  const shares = known.flatMap((word) => {
    const typo = `${word.slice(0, 3)}${word[4]}${word[3]}${word.slice(5)}`
    const holders = new Set(tokens.filter((each) => each.words.includes(word)).map(({ id }) => id))
    if (typo === word || words.includes(typo) || said.some(({ text }) => text.includes(typo)) || holders.size === 0) return []
    const found = find(store, typo, 1_500)
    return [[...holders].filter((id) => found.includes(id)).length / holders.size]
  })
  expect(shares.length).toBeGreaterThan(30)
  expect(mean(shares)).toBeGreaterThanOrEqual(0.95)
})
