/** What the file of the index has of each message: its text, its words, and how they are spelt. Written inside the step of its caller. */
import type { Database as Handle } from 'better-sqlite3'
import { LIMITS } from '../../protocol/limits.js'
import { folded, indexedWords } from '../../protocol/search/words.js'
import type { KeptText } from '../found.js'
import { createAmounts, type Meta } from './meta.js'
import type { SearchedMessage } from './source.js'

export interface Entries {
  /** Whether anything was changed by it. */
  put(message: SearchedMessage): boolean
  remove(messageId: string): void
  /** A part of the merging that was put off; false when there is none, as most often: runs are merged when there are enough of them, and what no commit has is none. */
  mergeOwed(): boolean
  /** Removes some of what is too much or too old; false when nothing is. */
  removeOldest(): boolean
  /** Characters that came and went since the last commit. */
  readonly uncommitted: number
  /** To be called after a commit: what it wrote is to be merged. Answers whether it wrote anything, and how much all commits have. */
  committed(): { readonly isMore: boolean; readonly written: number }
  /** To be called when steps are rolled back: their words are not noted. */
  forget(): void
}

/** Full texts, and the pages of each that are merged after a step: more than its levels rewrite of what a step writes. */
const MERGED = { words: 16, grams: 16, spelling: 8 }
/** Changes that a merge is counted for which had nothing to do. */
const ASKING = 1
/** Runs of one level before they are merged beside the steps, and before a commit does it at once. */
const RUNS = { most: 8, tooMany: 400 }

/** SQLite would merge in the commit that makes it due, and all that is due; it is kept in the file, which may be of before. */
function mergeBeside(handle: Handle): void {
  const setting = (table: string, name: string, value: number) => `insert into ${table} (${table}, rank) values ('${name}', ${value});`
  handle.transaction(() => {
    for (const table of Object.keys(MERGED))
      handle.exec(setting(table, 'automerge', 0) + setting(table, 'crisismerge', RUNS.tooMany) + setting(table, 'usermerge', RUNS.most))
  })()
}

/** The merging that was put off: a part of each full text at a time. */
function createMerging(handle: Handle) {
  mergeBeside(handle)
  const merges = Object.entries(MERGED).map(([table, pages]) =>
    handle.prepare(`insert into ${table} (${table}, rank) values ('merge', ${pages})`),
  )
  const changed = handle.prepare<[], { n: number }>('select total_changes() as n')
  let owed: typeof merges = []
  const changesOf = (merge: (typeof merges)[number]): number => {
    const before = changed.get()?.n ?? 0
    merge.run()
    return (changed.get()?.n ?? 0) - before
  }
  return {
    owe: () => void (owed = merges),
    /** Answers whether there was anything to be done. */
    step(): boolean {
      while (owed.length > 0) {
        const [first, ...others] = owed
        owed = others
        if (first !== undefined && changesOf(first) > ASKING) return true
      }
      return false
    },
  }
}

/** Words that are remembered as noted: so many, and as many of before; longer ones would keep the texts they are of. */
const REMEMBERED = { words: 8192, length: 12 }

/** A text has hundreds of words: each costs one look, and no order is kept of which was used when. */
function createNoted() {
  let words = new Set<string>()
  let before = new Set<string>()
  return {
    /** Whether it is known to be noted already; to be noted if not. */
    has(word: string): boolean {
      if (word.length > REMEMBERED.length) return false
      if (words.has(word)) return true
      if (words.size === REMEMBERED.words) [words, before] = [new Set(), words]
      words.add(word)
      return before.has(word)
    },
    clear(): void {
      words = new Set()
      before = new Set()
    },
  }
}

/** The vocabulary: words as they are spelt, to find what was mistyped. */
function createSpelling(handle: Handle) {
  const noted = createNoted()
  const noteTerm = handle.prepare<[string]>('insert into terms (term) values (?) on conflict do nothing')
  const noteSpelling = handle.prepare<[number | bigint, string]>('insert into spelling (rowid, term) values (?, ?)')
  const lastTerm = handle.prepare<[], { n: number }>('select coalesce(max(key), 0) as n from terms')
  const countTerms = () => lastTerm.get()?.n ?? 0
  let terms = countTerms()
  return {
    note(words: Iterable<string>): void {
      for (const word of words) {
        if (terms >= LIMITS.search.vocabulary) return
        if (noted.has(word) || !SPELT.test(word)) continue
        const { changes, lastInsertRowid } = noteTerm.run(word)
        if (changes === 0) continue
        noteSpelling.run(lastInsertRowid, ` ${word} `)
        terms++
      }
    },
    forget(): void {
      noted.clear()
      terms = countTerms()
    },
  }
}

export function createEntries(handle: Handle, meta: Meta, kept: () => KeptText): Entries {
  const amounts = createAmounts(meta)
  const spelling = createSpelling(handle)
  const oldest = handle.prepare<[number], { messageId: string; created: number }>(
    'select message_id as messageId, created from docs order by created, key limit ?',
  )

  const known = handle.prepare<[string], { key: number; text: string }>('select key, text from docs where message_id = ?')
  const insert = handle.prepare<[string, string, string, number, string]>(
    'insert into docs (message_id, session_id, role, created, text) values (?, ?, ?, ?, ?)',
  )
  const insertWords = handle.prepare<[number | bigint, string, string]>('insert into words (rowid, said, parts) values (?, ?, ?)')
  const insertGrams = handle.prepare<[number | bigint, string]>('insert into grams (rowid, said) values (?, ?)')
  const deleteDoc = handle.prepare<[number]>('delete from docs where key = ?')
  const deleteWords = handle.prepare<[number]>('delete from words where rowid = ?')
  const deleteGrams = handle.prepare<[number]>('delete from grams where rowid = ?')
  const merging = createMerging(handle)
  let uncommitted = 0
  let written = 0
  /** No message is of before. */
  let first = Number.NEGATIVE_INFINITY

  function remove(messageId: string): void {
    const doc = known.get(messageId)
    if (doc === undefined) return
    uncommitted += doc.text.length
    amounts.subtract(doc.text)
    deleteDoc.run(doc.key)
    deleteWords.run(doc.key)
    deleteGrams.run(doc.key)
  }

  return {
    put({ id, sessionId, role, created, text }) {
      const before = known.get(id)
      if (before?.text === text) return false
      if (before !== undefined) remove(id)
      else if (created < kept().since || created <= amounts.floor()) return false
      if (text.trim() === '') return before !== undefined
      uncommitted += text.length
      const { lastInsertRowid: key } = insert.run(id, sessionId, role, created, text)
      amounts.add(text)
      const { said, parts } = indexedWords(text)
      insertWords.run(key, said.join(' '), parts.join(' '))
      insertGrams.run(key, folded(text))
      first = Math.min(first, created)
      spelling.note(new Set([...said, ...parts]))
      return true
    },
    remove,
    removeOldest() {
      const { bytes, since } = kept()
      if (amounts.bytes() <= bytes && first >= since) return false
      let count = 0
      for (const { messageId, created } of oldest.all(LIMITS.search.step)) {
        first = created
        const isTooMuch = amounts.bytes() > bytes
        if (!isTooMuch && created >= since) break
        remove(messageId)
        if (isTooMuch) amounts.raise(created)
        count++
      }
      return count > 0
    },
    get uncommitted() {
      return uncommitted
    },
    committed() {
      const isMore = uncommitted > 0
      if (isMore) merging.owe()
      written += uncommitted
      uncommitted = 0
      return { isMore, written }
    },
    forget() {
      uncommitted = 0
      first = Number.NEGATIVE_INFINITY
      spelling.forget()
    },
    mergeOwed: merging.step,
  }
}

/** What may be mistyped: letters, not too few, not numbers. */
const SPELT = /^\p{L}[\p{L}\p{N}]{2,31}$/u
