/**
 * Finds messages by words (subsystems i). Tiers, each behind the one before and the better matches first: the words as they stand
 * together, all words, all of a few words inside of others; and where there is none of these, all words as they were probably meant, and any of them.
 *
 * I1 What somebody typed is handed to the full text search as quoted words only.
 * I2 What a query costs is bounded: by its words, their length, and those that are taken for mistyped.
 * I3 Of many matches the newest `LIMITS.search.ranked` are ranked: the time a search takes does not grow with how usual a word is.
 * I4 The full texts are looked into once in a part, so that others can go on between two.
 */
import type { Database as Handle } from 'better-sqlite3'
import { LIMITS } from '../../protocol/limits.js'
import { createLru, type Lru } from '../../kernel/lru.js'
import { distanceOf, folded, identifierParts, isUnspaced, pairsOf, queryWords } from '../../protocol/search/words.js'
import type { Found, Parts } from '../found.js'

export interface Lookup {
  /** At most `limit`, the best first; only of `sessions`, if they are given. A part of it looks into the full texts once at most. */
  parts(query: string, limit: number, sessions?: readonly string[]): Parts<Found[]>
  /** How many messages it holds. */
  size(): number
}

interface Scope {
  readonly limit: number
  /** JSON array of ids; undefined: every session. */
  readonly sessions: string | undefined
}

type Keys = readonly { readonly key: number }[]

interface Tier {
  readonly hits: () => Keys
  /** Only for a query that nothing fits as it was typed. */
  readonly isGuess: boolean
}

/** Of more words nobody means the insides: their trigrams together are most of what a search can cost. */
const FEW = 4
/** Texts that are looked through for what stands inside of words. */
const VERIFIED = 200
/** Nothing that is longer is remembered, or within two slips of what is. */
const LONGEST_TERM = 34
/** Behind every frequency. */
const MANY = Number.MAX_SAFE_INTEGER
/** Words whose frequency is remembered, as it was when they were first looked for. */
const USUAL = 1000

/** The statements of an index. */
type Statements = ReturnType<typeof prepare>

function prepare(handle: Handle) {
  const { ranked } = LIMITS.search
  const best = `select key from (select rowid as key, bm25(words, 1.0, 0.5) as score from words where words match ?
    order by rowid desc limit ${ranked}) order by score, key desc limit ?`
  const bestWithin = `select key from (select words.rowid as key, bm25(words, 1.0, 0.5) as score from words cross join docs on docs.key = words.rowid
    where words match ? and docs.session_id in (select value from json_each(?)) order by words.rowid desc limit ${ranked})
    order by score, key desc limit ?`
  return {
    everywhere: handle.prepare<[string, number], { key: number }>(best),
    within: handle.prepare<[string, string, number], { key: number }>(bestWithin),
    inside: handle.prepare<[string, number], { key: number; text: string }>(`select docs.key, text from grams cross join docs
    on docs.key = grams.rowid where grams match ? order by grams.rowid desc limit ?`),
    insideWithin: handle.prepare<[string, string, number], { key: number; text: string }>(`select docs.key, text
    from grams cross join docs on docs.key = grams.rowid
    where grams match ? and docs.session_id in (select value from json_each(?)) order by grams.rowid desc limit ?`),
    doc: handle.prepare<[number], Found>(
      'select message_id as messageId, session_id as sessionId, role, created, text from docs where key = ?',
    ),
    isTerm: handle.prepare<[string], { key: number }>('select key from terms where term = ?'),
    alike: handle.prepare<
      [string, number, number],
      { term: string }
    >(`select term from (select key from (select rowid as key, rank as nearness from spelling where spelling match ? limit ?)
    order by nearness limit ?) join terms using (key)`),
    frequency: handle.prepare<[string], { doc: number }>('select doc from usual where term = ?'),
    count: handle.prepare<[], { n: number }>('select count(*) as n from docs'),
  }
}

/** What is looked into. */
interface Index extends Statements {
  /** How often words stand in texts. */
  readonly usual: Lru<string, number>
}

export function createLookup(handle: Handle): Lookup {
  const index: Index = { ...prepare(handle), usual: createLru(USUAL) }
  return {
    *parts(query, limit, sessions) {
      const scope = { limit, sessions: sessions && JSON.stringify(sessions) }
      const keys = new Set<number>()
      for (const tier of tiers(index, query.slice(0, LIMITS.search.query), scope)) {
        if (tier?.isGuess === true && keys.size > 0) break
        for (const { key } of tier?.hits() ?? []) keys.add(key)
        if (keys.size >= limit) break
        yield
      }
      return [...keys].slice(0, limit).flatMap((key) => index.doc.get(key) ?? [])
    },
    size: () => index.count.get()?.n ?? 0,
  }
}

/** Lazily: a tier is looked through only while there is room. Undefined: the full texts were looked into for what comes next (I4). */
function* tiers(index: Index, query: string, scope: Scope): Generator<Tier | undefined> {
  const words = queryWords(query).slice(0, LIMITS.search.words)
  if (words.length === 0) return
  const each = words.map(expressionOf)
  const all = each.map((expression) => `(${expression})`).join(' AND ')
  if (words.length > 1 && !words.some(isUnspaced)) {
    const phrase = `said : ${quoted(words.map(folded).join(' '))}`
    yield { isGuess: false, hits: () => byWords(index, phrase, scope) }
  }
  yield { isGuess: false, hits: () => byWords(index, all, scope) }
  if (words.length <= FEW) yield { isGuess: false, hits: () => byInside(index, words, scope) }
  yield { isGuess: true, hits: () => [] } // nothing is guessed unless somebody asks for more
  let left: number = LIMITS.search.mistyped
  const meant: string[] = []
  for (const [at, word] of words.entries()) {
    const isCorrected = left > 0 && isOdd(index, word)
    const better = isCorrected ? corrections(index, word) : []
    meant.push([each[at] ?? '', ...better.map(quoted)].join(' OR '))
    if (!isCorrected) continue
    left--
    yield undefined
  }
  const corrected = meant.map((expression) => `(${expression})`).join(' AND ')
  if (corrected !== all) yield { isGuess: true, hits: () => byWords(index, corrected, scope) }
  if (words.length > 1) yield { isGuess: true, hits: () => byWords(index, telling(index, words, meant).join(' OR '), scope) }
}

function byWords({ everywhere, within }: Index, expression: string, { limit, sessions }: Scope): Keys {
  return sessions === undefined ? everywhere.all(expression, limit) : within.all(expression, sessions, limit)
}

/** Three characters are the least that is found inside of words. */
function byInside({ inside, insideWithin }: Index, words: readonly string[], { limit, sessions }: Scope): Keys {
  const long = words.map(folded).filter((word) => [...word].length >= 3)
  if (long.length === 0) return []
  const expression = [...new Set(long.flatMap(gramsOf))].map(quoted).join(' AND ')
  const rows = sessions === undefined ? inside.iterate(expression, VERIFIED) : insideWithin.iterate(expression, sessions, VERIFIED)
  const keys: { key: number }[] = []
  for (const { key, text } of rows) {
    const whole = folded(text)
    if (long.every((word) => whole.includes(word)) && keys.push({ key }) >= limit) break
  }
  return keys
}

/** It may be mistyped: such words are remembered, and this is none of them. */
function isOdd({ isTerm }: Index, word: string): boolean {
  const meant = folded(word)
  return !isUnspaced(word) && meant.length >= 4 && meant.length <= LONGEST_TERM && isTerm.get(meant) === undefined
}

/** Words that are there and a slip or two away. */
function corrections({ alike }: Index, word: string): string[] {
  const meant = folded(word)
  const most = meant.length < 6 ? 1 : 2
  const rows = alike.all(gramsOf(` ${meant} `).map(quoted).join(' OR '), LIMITS.search.related, LIMITS.search.alike)
  return rows
    .map(({ term }) => ({ term, distance: distanceOf(meant, term, most) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, LIMITS.search.corrections)
    .map(({ term }) => term)
}

function timesOf({ usual, frequency }: Index, word: string): number {
  const known = usual.get(word)
  if (known !== undefined) return known
  const times = frequency.get(word)?.doc ?? 0
  usual.set(word, times)
  return times
}

/** Those that tell most: words that are there, the rarest first, and what is there only as it was probably meant behind them. */
function telling(index: Index, words: readonly string[], expressions: readonly string[]): string[] {
  return words
    .map((word, at) => ({ times: timesOf(index, folded(word)), expression: expressions[at] ?? '' }))
    .toSorted((a, b) => (a.times || MANY) - (b.times || MANY))
    .slice(0, LIMITS.search.telling)
    .map(({ expression }) => expression)
}

/** One word of a query: as it is, or as the parts it is made of. */
function expressionOf(word: string): string {
  if (isUnspaced(word)) {
    const pairs = pairsOf(word)
    const only = pairs.slice(0, -1)
    if (only.length > 0) return `parts : ${quoted(only.join(' '))}`
    return `parts : ${quoted(pairs.join(''))} *`
  }
  const parts = identifierParts(word)
  const whole = quoted(folded(word))
  return parts.length === 0 ? whole : `${whole} OR ${quoted(parts.join(' '))}`
}

function gramsOf(word: string): string[] {
  const characters = [...word]
  return characters.slice(2).map((_last, at) => characters.slice(at, at + 3).join(''))
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
