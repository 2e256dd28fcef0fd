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
import { createLookup, type Lookup } from './lookup.js'
import type { KeptText, SearchIndex } from '../found.js'
import type { SearchSource } from './source.js'
import { fused, openVectors, type Vectors } from './vectors.js'
import { messageOf } from '../../protocol/message-of.js'
import { createWriter, type Writer } from './writer.js'

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
    const { isNew, ...file } = openIn(path, source, () => kept)
    opened = file
    return { isNew }
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
    step(upTo) {
      if (opened === undefined) throw new SvcError('store.unavailable', 'The index of the search is not open.')
      return opened.isSpoilt ? 'damaged' : stepped(opened, upTo)
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
    head: () => source.head(),
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

function openIn(path: string | undefined, source: SearchSource, kept: () => KeptText): Opened & { readonly isNew: boolean } {
  const { handle, isNew } = openIndexFile(path)
  try {
    const writer = createWriter(handle, source, kept)
    return { handle, isNew, log: logMover(path, handle), writer, lookup: createLookup(handle), isSpoilt: false }
  } catch (error) {
    handle.close()
    throw error
  }
}

function stepped({ handle, log, writer }: Opened, upTo?: number): ReturnType<SearchIndex['step']> {
  try {
    const { result, written } = writer.step(upTo)
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
