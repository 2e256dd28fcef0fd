/** What writes the index of what was said, one step after the other; what each of its invariants is, `search-index.ts` says. */
import type { Database as Handle } from 'better-sqlite3'
import { LIMITS } from '../../protocol/limits.js'
import type { KeptText, SearchIndex } from '../found.js'
import { createEntries, type Entries } from './entries.js'
import { createMeta, type Meta } from './meta.js'
import type { SearchedMessage, SearchSource } from './source.js'

export interface Writer {
  /** `written`: as `commit` answers it; undefined = nothing was committed. */
  step(upTo?: number): { readonly result: ReturnType<SearchIndex['step']>; readonly written?: number | undefined }
  /** Commits the steps that are not; answers the characters of all commits, undefined where there was nothing to commit. */
  commit(): number | undefined
  /** To be called when steps are rolled back (I6). */
  forget(): void
}

/** Events that told nothing, before the cursor is moved behind them. */
const FAR = 1000

interface WorkRow {
  readonly key: number
  readonly sessionId: string
  readonly isSweep: 0 | 1
  readonly after: number
}

/** What is to be done for whole sessions. */
function createWork(handle: Handle) {
  const next = handle.prepare<[], WorkRow>('select key, session_id as sessionId, is_sweep as isSweep, after from work order by key limit 1')
  const add = handle.prepare<[string, 0 | 1]>('insert into work (session_id, is_sweep, after) values (?, ?, -1)')
  const move = handle.prepare<[number, number]>('update work set after = ? where key = ?')
  const end = handle.prepare<[number]>('delete from work where key = ?')
  return {
    next: () => next.get(),
    add: (sessionId: string, isSweep: 0 | 1) => void add.run(sessionId, isSweep),
    /** `after`: undefined = it is done. */
    advance(key: number, after: number | undefined): void {
      if (after === undefined) end.run(key)
      else move.run(after, key)
    },
  }
}

export function createWriter(handle: Handle, source: SearchSource, kept: () => KeptText): Writer {
  const meta = createMeta(handle)
  const listed = createWork(handle)
  const docsOf = handle.prepare<[string, number, number], { key: number; messageId: string }>(
    'select key, message_id as messageId from docs where session_id = ? and key > ? order by key limit ?',
  )
  const entries = createEntries(handle, meta, kept)
  /** The last event there was when nothing was left to be read; what was told of it may still be merged. */
  let through: number | undefined

  function readSession({ key, sessionId, after, isSweep }: WorkRow): void {
    const { step } = LIMITS.search
    if (isSweep === 1) {
      const docs = docsOf.all(sessionId, after, step)
      for (const { messageId } of docs) if (source.message(messageId) === undefined) entries.remove(messageId)
      listed.advance(key, docs.length < step ? undefined : docs.at(-1)?.key)
    } else {
      listed.advance(key, putSome(entries, source.ofSession(sessionId, after, step))?.position)
    }
  }

  /** What there is to be done for all of a session: nothing for one that begins. */
  function noteSession(sessionId: string): void {
    if (docsOf.get(sessionId, -1, 1) !== undefined) listed.add(sessionId, 1)
    if (source.ofSession(sessionId, -1, 1).length > 0) listed.add(sessionId, 0)
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
    if (last !== undefined) meta.set('cursor', last)
    else if (source.head() - cursor > FAR) meta.set('cursor', source.head())
    return last !== undefined
  }

  /** Whether anything was done; what is merged and removed changes nothing of what was read. */
  function read(cursor: number | undefined, upTo: number): boolean {
    if (through !== undefined && source.head() === through) return false
    if (cursor !== undefined && cursor >= upTo && meta.get('read') === 1 && listed.next() === undefined) return false
    const isMore = work(cursor)
    through = isMore ? undefined : source.head()
    return isMore
  }

  function work(cursor: number | undefined): boolean {
    if (cursor === undefined) {
      meta.set('cursor', source.head())
      meta.set('after', 0)
      meta.set('read', 0)
      return true
    }
    if (meta.get('read') !== 1) {
      readAll({ entries, meta, source })
      return true
    }
    const row = listed.next()
    if (row !== undefined) {
      readSession(row)
      return true
    }
    return readChanges(cursor)
  }

  function commit() {
    if (!handle.inTransaction) return undefined
    handle.exec('commit')
    return entries.committed()
  }

  return {
    step(upTo = Number.POSITIVE_INFINITY) {
      const cursor = meta.get('cursor')
      const isFirst = !handle.inTransaction
      if (cursor !== undefined && (cursor < source.prunedThrough() || (isFirst && cursor > source.head()))) return { result: 'damaged' } // I3
      if (isFirst) handle.exec('begin')
      const isMore = entries.mergeOwed() || entries.removeOldest() || read(cursor, upTo)
      if (isMore && entries.uncommitted < LIMITS.search.commitText) return { result: 'more' }
      const committed = commit()
      return { result: isMore || committed?.isMore === true ? 'more' : 'done', written: committed?.written }
    },
    commit: () => commit()?.written,
    forget() {
      through = undefined
      meta.forget()
      entries.forget()
    },
  }
}

/** Every message there is, by its row; what happens meanwhile is told by the events behind the cursor. */
function readAll({ entries, meta, source }: { readonly entries: Entries; readonly meta: Meta; readonly source: SearchSource }): void {
  const last = putSome(entries, source.all(meta.get('after') ?? 0, LIMITS.search.step))
  if (last === undefined) meta.set('read', 1)
  else meta.set('after', last.key)
}

/** Answers the last that was put, undefined when none follows: I4. */
function putSome(entries: Entries, messages: readonly SearchedMessage[]): SearchedMessage | undefined {
  let characters = 0
  for (const message of messages) {
    if (entries.put(message)) characters += message.text.length
    if (characters >= LIMITS.search.stepText) return message
  }
  return messages.length < LIMITS.search.step ? undefined : messages.at(-1)
}
