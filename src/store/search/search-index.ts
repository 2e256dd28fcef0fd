/**
 * The index of what was said (subsystems i): kept up with the events in small steps, each one transaction of its own file.
 *
 * I1 A step and the cursor behind it are one commit, so a kill repeats at most one step, and none twice.
 * I2 A message is read as it is now, not as the event tells it: steps may be repeated, left out or taken in any order.
 * I3 What the events no longer tell, because they are removed after a while, is read from the rows: the file is discarded, and made anew.
 * I4 A step is short: it stops after some characters, and the full texts are merged in steps of their own, some pages at a time.
 * I5 No more text is kept than `keep` says: the oldest goes, a few messages a step, and nothing as old is taken in again.
 */
import type { Database as Handle } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { folded, sideWords, wordsOf } from '../../protocol/search/words.js'
import { isSpoilt, storeFault } from '../disk/faults.js'
import type { Checkpoints } from '../disk/checkpoints.js'
import { closeIndexFile, logMover, openIndexFile, removeIndexFile } from './index-file.js'
import { createLookup, type Lookup } from './lookup.js'
import type { KeptText, SearchIndex } from '../found.js'
import type { SearchedMessage, SearchSource } from './source.js'
import { fused, openVectors, type Vectors } from './vectors.js'
import { messageOf } from '../../protocol/message-of.js'

interface Opened {
  readonly handle: Handle
  readonly log: Checkpoints
  readonly writer: Writer
  readonly lookup: Lookup
  readonly vectors?: { readonly model: string; readonly of: Vectors }
  /** Damage was found while it was searched. */
  readonly isSpoilt: boolean
}

/** `path`: undefined for one in memory. */
export function createSearchIndex(path: string | undefined, source: SearchSource): SearchIndex {
  let opened: Opened | undefined
  let kept: KeptText = { bytes: LIMITS.search.storedBytes, since: 0 }

  function close(): void {
    if (opened === undefined) return
    const { handle, log } = opened
    opened = undefined
    log.close()
    closeIndexFile(handle)
  }

  function use(): { readonly isNew: boolean } {
    const { handle, isNew } = openIndexFile(path)
    try {
      opened = {
        handle,
        log: logMover(path, handle),
        writer: createWriter(handle, source, () => kept),
        lookup: createLookup(handle),
        isSpoilt: false,
      }
      return { isNew }
    } catch (error) {
      handle.close()
      throw error
    }
  }

  return {
    open() {
      if (opened !== undefined) return { isNew: false }
      try {
        return use()
      } catch (error) {
        if (!isSpoilt(error) || path === undefined) throw storeFault(error, path)
      }
      removeIndexFile(path)
      return use()
    },
    step() {
      if (opened === undefined) throw new SvcError('store.unavailable', 'The index of the search is not open.')
      return opened.isSpoilt ? 'damaged' : stepped(opened)
    },
    *parts(query, limit, sessions, vector) {
      const handle = opened?.handle
      // Between two parts it may be closed, or made anew.
      const isSame = () => opened !== undefined && opened.handle === handle && !opened.isSpoilt
      if (opened === undefined || !isSame()) return undefined
      try {
        const looking = opened.lookup.parts(query, limit, sessions)
        let part = looking.next()
        for (; part.done !== true; part = looking.next()) {
          yield
          if (!isSame()) return undefined
        }
        if (vector === undefined || opened.vectors === undefined) return part.value
        yield
        if (!isSame()) return undefined
        return fused([part.value, opened.vectors.of.near(vector, limit, sessions)], limit)
      } catch (error) {
        if (!isSpoilt(error)) throw storeFault(error, path)
        if (isSame()) opened = { ...opened, isSpoilt: true }
        return undefined
      }
    },
    useVectors(model) {
      if (opened === undefined || opened.isSpoilt) return 'the index of the search is not open'
      if (opened.vectors?.model === model) return undefined
      try {
        opened = { ...opened, vectors: { model, of: openVectors(opened.handle, model) } }
        return undefined
      } catch (error) {
        return messageOf(error)
      }
    },
    unembedded: (limit) => opened?.vectors?.of.pending(limit) ?? [],
    putVectors(entries) {
      opened?.vectors?.of.put(entries)
      opened?.log.committed()
    },
    discard() {
      opened?.log.close()
      opened?.handle.close()
      opened = undefined
      if (path !== undefined) removeIndexFile(path)
    },
    keep: (text) => void (kept = text),
    isShown: (messageId) => source.isShown(messageId),
    size: () => opened?.lookup.size() ?? 0,
    close() {
      try {
        close()
      } catch (error) {
        if (!isSpoilt(error)) throw storeFault(error, path) // what is damaged is found by the next start
      }
    },
  }
}

function stepped({ handle, log, writer }: Opened): ReturnType<SearchIndex['step']> {
  try {
    const result = writer.step()
    log.committed()
    return result
  } catch (error) {
    if (handle.inTransaction) handle.exec('rollback')
    if (isSpoilt(error)) return 'damaged'
    throw storeFault(error, handle.name)
  }
}

interface Writer {
  step(): ReturnType<SearchIndex['step']>
}

/** Events that told nothing, before the cursor is moved behind them. */
const FAR = 1000

interface WorkRow {
  readonly key: number
  readonly sessionId: string
  readonly isSweep: 0 | 1
  readonly after: number
}

function createWriter(handle: Handle, source: SearchSource, kept: () => KeptText): Writer {
  const meta = handle.prepare<[string], { value: number }>('select value from meta where name = ?')
  const setMeta = handle.prepare<[string, number]>('insert or replace into meta (name, value) values (?, ?)')
  const nextWork = handle.prepare<[], WorkRow>(
    'select key, session_id as sessionId, is_sweep as isSweep, after from work order by key limit 1',
  )
  const addWork = handle.prepare<[string, 0 | 1]>('insert into work (session_id, is_sweep, after) values (?, ?, -1)')
  const moveWork = handle.prepare<[number, number]>('update work set after = ? where key = ?')
  const endWork = handle.prepare<[number]>('delete from work where key = ?')
  const docsOf = handle.prepare<[string, number, number], { key: number; messageId: string }>(
    'select key, message_id as messageId from docs where session_id = ? and key > ? order by key limit ?',
  )
  const entries = createEntries(handle, kept)
  const value = (name: string) => meta.get(name)?.value

  /** Every message there is, by its row; what happens meanwhile is told by the events behind the cursor. */
  function readAll(after: number): void {
    const last = putSome(entries, source.all(after, LIMITS.search.step))
    if (last === undefined) setMeta.run('read', 1)
    else setMeta.run('after', last.key)
  }

  function readSession({ key, sessionId, after, isSweep }: WorkRow): void {
    const { step } = LIMITS.search
    if (isSweep === 1) {
      const docs = docsOf.all(sessionId, after, step)
      for (const { messageId } of docs) if (source.message(messageId) === undefined) entries.remove(messageId)
      advance(key, docs.at(-1)?.key)
    } else {
      advance(key, putSome(entries, source.ofSession(sessionId, after, step))?.position)
    }
  }

  function advance(key: number, after: number | undefined): void {
    if (after === undefined) endWork.run(key)
    else moveWork.run(after, key)
  }

  /** What there is to be done for all of a session: nothing for one that begins. */
  function noteSession(sessionId: string): void {
    if (docsOf.get(sessionId, -1, 1) !== undefined) addWork.run(sessionId, 1)
    if (source.ofSession(sessionId, -1, 1).length > 0) addWork.run(sessionId, 0)
  }

  function readChanges(cursor: number): boolean {
    let last: number | undefined
    const touched = new Set<string>()
    let characters = 0
    for (const { sequence, sessionId, messageId, isSaid } of source.changes(cursor)) {
      if (messageId === undefined) noteSession(sessionId)
      else if (isSaid && !touched.has(messageId)) {
        if (touched.size === LIMITS.search.step || characters >= LIMITS.search.stepText) break
        touched.add(messageId)
        const message = source.message(messageId)
        if (message === undefined) entries.remove(messageId)
        else if (entries.put(message)) characters += message.text.length
      }
      last = sequence
    }
    if (last !== undefined) setMeta.run('cursor', last)
    else if (source.head() - cursor > FAR) setMeta.run('cursor', source.head())
    return last !== undefined
  }

  function work(cursor: number | undefined): boolean {
    if (cursor === undefined) {
      setMeta.run('cursor', source.head())
      setMeta.run('after', 0)
      setMeta.run('read', 0)
      return true
    }
    if (value('read') !== 1) {
      readAll(value('after') ?? 0)
      return true
    }
    const row = nextWork.get()
    if (row !== undefined) {
      readSession(row)
      return true
    }
    return readChanges(cursor)
  }

  return {
    step() {
      const cursor = value('cursor')
      if (cursor !== undefined && (cursor < source.prunedThrough() || cursor > source.head())) return 'damaged' // I3
      handle.exec('begin')
      const isMore = entries.mergeOwed() || entries.forget() || work(cursor)
      handle.exec('commit')
      return isMore ? 'more' : 'done'
    },
  }
}

/** Answers the last that was put: I4. */
function putSome(entries: Entries, messages: readonly SearchedMessage[]): SearchedMessage | undefined {
  let characters = 0
  for (const message of messages) {
    if (entries.put(message)) characters += message.text.length
    if (characters >= LIMITS.search.stepText) return message
  }
  return messages.at(-1)
}

interface Entries {
  /** Whether anything was changed by it. */
  put(message: SearchedMessage): boolean
  remove(messageId: string): void
  /** A part of the merging that was put off; false when there is none, as most often: runs are merged when there are enough of them. */
  mergeOwed(): boolean
  /** Removes some of what is too much or too old; false when nothing is (I5). */
  forget(): boolean
}

/** Full texts, and the pages of each that are merged after a step: more than its levels rewrite of what a step writes. */
const MERGED = { words: 16, grams: 16, spelling: 8 }
/** Changes that a merge is counted for which had nothing to do. */
const ASKING = 1
/** Runs of one level before they are merged beside the steps, and before a commit does it at once. */
const RUNS = { most: 8, tooMany: 400 }

/** I4. SQLite would merge in the commit that makes it due, and all that is due; it is kept in the file, which may be of before. */
function mergeBeside(handle: Handle): void {
  const setting = (table: string, name: string, value: number) => `insert into ${table} (${table}, rank) values ('${name}', ${value});`
  handle.transaction(() => {
    for (const table of Object.keys(MERGED))
      handle.exec(setting(table, 'automerge', 0) + setting(table, 'crisismerge', RUNS.tooMany) + setting(table, 'usermerge', RUNS.most))
  })()
}

/** The bytes of all texts, and the time of the newest that had to go because of them: nothing as old is taken in again. */
function createAmounts(handle: Handle) {
  const read = handle.prepare<[string], { value: number }>('select value from meta where name = ?')
  const write = handle.prepare<[string, number]>('insert or replace into meta (name, value) values (?, ?)')
  const value = (name: 'bytes' | 'floor') => read.get(name)?.value ?? 0
  return {
    bytes: () => value('bytes'),
    floor: () => value('floor'),
    add: (text: string) => void write.run('bytes', value('bytes') + Buffer.byteLength(text)),
    subtract: (text: string) => void write.run('bytes', value('bytes') - Buffer.byteLength(text)),
    raise: (created: number) => void write.run('floor', Math.max(created, value('floor'))),
  }
}

function createEntries(handle: Handle, kept: () => KeptText): Entries {
  const amounts = createAmounts(handle)
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
  const noteTerm = handle.prepare<[string]>('insert into terms (term) values (?) on conflict do nothing')
  const noteSpelling = handle.prepare<[number | bigint, string]>('insert into spelling (rowid, term) values (?, ?)')
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
  let terms = handle.prepare<[], { n: number }>('select coalesce(max(key), 0) as n from terms').get()?.n ?? 0

  function remove(messageId: string): void {
    const doc = known.get(messageId)
    if (doc === undefined) return
    owed = merges
    amounts.subtract(doc.text)
    deleteDoc.run(doc.key)
    deleteWords.run(doc.key)
    deleteGrams.run(doc.key)
  }

  function note(words: Iterable<string>): void {
    for (const word of words) {
      if (terms >= LIMITS.search.vocabulary) return
      if (!SPELT.test(word)) continue
      const { changes, lastInsertRowid } = noteTerm.run(word)
      if (changes === 0) continue
      noteSpelling.run(lastInsertRowid, ` ${word} `)
      terms++
    }
  }

  return {
    put({ id, sessionId, role, created, text }) {
      const before = known.get(id)
      if (before?.text === text) return false
      if (before !== undefined) remove(id)
      else if (created < kept().since || created <= amounts.floor()) return false
      if (text.trim() === '') return before !== undefined
      owed = merges
      const { lastInsertRowid: key } = insert.run(id, sessionId, role, created, text)
      amounts.add(text)
      const said = wordsOf(text)
      const parts = sideWords(text)
      insertWords.run(key, said.join(' '), parts.join(' '))
      insertGrams.run(key, folded(text))
      note(new Set([...said, ...parts]))
      return true
    },
    remove,
    forget() {
      const { bytes, since } = kept()
      let count = 0
      for (const { messageId, created } of oldest.all(LIMITS.search.step)) {
        const isTooMuch = amounts.bytes() > bytes
        if (!isTooMuch && created >= since) break
        remove(messageId)
        if (isTooMuch) amounts.raise(created)
        count++
      }
      return count > 0
    },
    mergeOwed() {
      while (owed.length > 0) {
        const [first, ...others] = owed
        owed = others
        if (first !== undefined && changesOf(first) > ASKING) return true
      }
      return false
    },
  }
}

/** What may be mistyped: letters, not too few, not numbers. */
const SPELT = /^\p{L}[\p{L}\p{N}]{2,31}$/u
