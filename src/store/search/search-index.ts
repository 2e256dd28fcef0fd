/**
 * The index of what was said (subsystems i): kept up with the events in small steps.
 *
 * I1 A step and the cursor behind it are one commit, so none is lost in part. Steps that follow each other share one, up to some characters: full
 *    texts write what they have gathered in it. A kill repeats what was not committed; what is answered as done, or kept beside the texts, was.
 * I2 A message is read as it is now, not as the event tells it: steps may be repeated, left out or taken in any order.
 * I3 What the events no longer tell, because they are removed after a while, is read from the rows: the file is discarded, and made anew.
 * I4 A step is short: it stops after some characters, and the full texts are merged in steps of their own, some pages at a time.
 * I5 No more text is kept than `keep` says: the oldest goes, a few messages a step, and nothing as old is taken in again.
 * I6 What the writer remembers of the file is forgotten with every step that is rolled back: nobody else writes there.
 */
import type { Database as Handle } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { isSpoilt, storeFault } from '../disk/faults.js'
import type { Checkpoints } from '../disk/checkpoints.js'
import { closeIndexFile, logMover, openIndexFile, removeIndexFile } from './index-file.js'
import { createEntries, type Entries } from './entries.js'
import { createLookup, type Lookup } from './lookup.js'
import { createMeta } from './meta.js'
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
    try {
      settle(opened)
    } finally {
      opened = undefined
      log.close()
      closeIndexFile(handle)
    }
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
        settle(opened)
        opened = { ...opened, vectors: { model, of: openVectors(opened.handle, model) } }
        return undefined
      } catch (error) {
        return messageOf(error)
      }
    },
    unembedded: (limit) => opened?.vectors?.of.pending(limit) ?? [],
    putVectors(entries) {
      if (opened?.vectors === undefined) return
      settle(opened)
      opened.vectors.of.put(entries)
      opened.log.committed()
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
    const { result, written } = writer.step()
    if (written !== undefined) log.committed(written)
    return result
  } catch (error) {
    undo(handle, writer)
    if (isSpoilt(error)) return 'damaged'
    throw storeFault(error, handle.name)
  }
}

/** Commits the steps that are not. */
function settle({ handle, log, writer }: Opened): void {
  try {
    const written = writer.commit()
    if (written !== undefined) log.committed(written)
  } catch (error) {
    undo(handle, writer)
    throw error
  }
}

function undo(handle: Handle, writer: Writer): void {
  if (handle.inTransaction) handle.exec('rollback')
  writer.forget()
}

interface Writer {
  /** `written`: as `commit` answers it; undefined = nothing was committed. */
  step(): { readonly result: ReturnType<SearchIndex['step']>; readonly written?: number | undefined }
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

function createWriter(handle: Handle, source: SearchSource, kept: () => KeptText): Writer {
  const meta = createMeta(handle)
  const nextWork = handle.prepare<[], WorkRow>(
    'select key, session_id as sessionId, is_sweep as isSweep, after from work order by key limit 1',
  )
  const addWork = handle.prepare<[string, 0 | 1]>('insert into work (session_id, is_sweep, after) values (?, ?, -1)')
  const moveWork = handle.prepare<[number, number]>('update work set after = ? where key = ?')
  const endWork = handle.prepare<[number]>('delete from work where key = ?')
  const docsOf = handle.prepare<[string, number, number], { key: number; messageId: string }>(
    'select key, message_id as messageId from docs where session_id = ? and key > ? order by key limit ?',
  )
  const entries = createEntries(handle, meta, kept)
  /** The last event there was when nothing was left to be read; what was told of it may still be merged. */
  let through: number | undefined

  /** Every message there is, by its row; what happens meanwhile is told by the events behind the cursor. */
  function readAll(after: number): void {
    const last = putSome(entries, source.all(after, LIMITS.search.step))
    if (last === undefined) meta.set('read', 1)
    else meta.set('after', last.key)
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
    if (last !== undefined) meta.set('cursor', last)
    else if (source.head() - cursor > FAR) meta.set('cursor', source.head())
    return last !== undefined
  }

  function work(cursor: number | undefined): boolean {
    if (cursor === undefined) {
      meta.set('cursor', source.head())
      meta.set('after', 0)
      meta.set('read', 0)
      return true
    }
    if (meta.get('read') !== 1) {
      readAll(meta.get('after') ?? 0)
      return true
    }
    const row = nextWork.get()
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
    step() {
      const cursor = meta.get('cursor')
      const head = source.head()
      if (cursor !== undefined && (cursor < source.prunedThrough() || cursor > head)) return { result: 'damaged' } // I3
      if (!handle.inTransaction) handle.exec('begin')
      const isMore = entries.mergeOwed() || entries.removeOldest() || (head !== through && work(cursor))
      through = isMore ? undefined : head
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

/** Answers the last that was put: I4. */
function putSome(entries: Entries, messages: readonly SearchedMessage[]): SearchedMessage | undefined {
  let characters = 0
  for (const message of messages) {
    if (entries.put(message)) characters += message.text.length
    if (characters >= LIMITS.search.stepText) return message
  }
  return messages.at(-1)
}
