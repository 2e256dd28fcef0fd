/**
 * Reads files while remembering every path that was looked at, so that a later look can tell whether the same
 * answers would come out again (subsystems b.1: nothing is cached except by file identity).
 *
 * I1 Each path asked about is a dependency, absent ones included. I2 The file that is read is the one that was
 * judged: canonical place, owner and mode, and those of all that leads there, are checked first, and the identity again
 * afterwards (threat-model F1, W3).
 * I3 Where nothing can be told of a file at the moment, the reading fails: it is not taken for one that is not there.
 * I4 The event loop gets its turn after every file that is read, however many there are. I5 With a memory, only what it does not know is
 * asked of the disk.
 */
import { dirname, relative } from 'node:path'
import { nextTurn } from '../../kernel/pause.js'
import { reachedThrough } from '../../protocol/text/exposure.js'
import { absentUnlessPassing } from '../../protocol/text/file-faults.js'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { sortInTurns } from '../../kernel/sort.js'
import { beginWork, ENTRY } from '../../kernel/work.js'
import { toFailure } from '../../protocol/errors.js'
import type { DirectoryEntry, Effects, FileStat, Files } from '../../ports/effects.js'
import type { FileProbe, ReadOptions, TextOutcome } from '../../ports/watched.js'
import type { Dependency } from './dependency.js'
import type { Content, FileMemory } from './file-memory.js'
import { isPrivate } from './private-files.js'

/** A probe, and what it was asked. */
export interface WatchedProbe extends FileProbe {
  dependencies(): readonly Dependency[]
  /** True when something was modified so recently that a further change might not show in its times. */
  isFresh(): boolean
}

/** What a part of a sort touches. */
const SORTED = 2048 * ENTRY
const byName = (a: DirectoryEntry, b: DirectoryEntry) => (a.name < b.name ? -1 : 1)
const READ_ATTEMPTS = 3
const STATS_AT_ONCE = 64
/** Bytes that one probe reads in all; bounds what one directory can make the server hold. */
const MAX_BYTES = 8 * 1024 * 1024

type Memory = Pick<FileMemory, 'stats' | 'listings' | 'canonical' | 'exposures' | 'contents' | 'outcomes' | 'forget'>

export function createFileProbe(effects: Pick<Effects, 'files' | 'clock'>, memory: Memory = NO_MEMORY): WatchedProbe {
  const { files, clock } = effects
  const seen = new Map<string, Dependency>()
  const work = beginWork(LIMITS.config.work)
  let fresh = false
  let bytesRead = 0

  const look = async (path: string, by: 'identity' | 'kind'): Promise<FileStat | undefined> => {
    const stat = await memory.stats.recall(path, () => statOf(files, path))
    if (by === 'identity' || seen.get(path)?.by !== 'identity') seen.set(path, { path, by, value: valueOf(stat, by) }) // I1
    if (stat === 'unreadable') return undefined
    if (by === 'identity' && stat !== undefined && Math.abs(stat.modifiedMs - clock.now()) < LIMITS.files.grain) fresh = true
    return stat
  }

  /** What leads to a file, once for all files of a folder. */
  const exposure = async (path: string, target: string): Promise<string | undefined> => {
    const asked = target === path ? dirname(path) : path
    const key = `exposure ${asked}`
    const known = seen.get(key) ?? {
      path: asked,
      by: 'exposure',
      value: await memory.exposures.recall(asked, () => exposureAt(files, asked)),
    }
    seen.set(key, known)
    return known.value === '' ? undefined : known.value
  }

  const canonical = async (path: string) => memory.canonical.recall(path, () => files.realPath(path).catch(absentUnlessPassing))

  const readOnce = async (path: string, options: ReadOptions): Promise<TextOutcome | 'changed'> => {
    const stat = await look(path, 'identity')
    if (stat === undefined || isPlaceholder(stat)) return { type: 'absent' }
    const target = await canonical(path)
    if (target === undefined) return 'changed'
    const reason = whyNotRead(stat, target, options) ?? (await exposure(path, target))
    if (reason !== undefined) return { type: 'refused', reason }
    if (stat.size > options.maxBytes) return { type: 'failed', reason: `is larger than ${options.maxBytes} bytes` }
    if (bytesRead + stat.size > MAX_BYTES)
      return { type: 'failed', reason: `would bring what is read for one directory above ${MAX_BYTES} bytes` }
    bytesRead += stat.size
    try {
      const content = await memory.contents.recall(path, () => contentOf(path, target, stat, options))
      return { type: 'text', ...content, canonical: target, modifiedMs: stat.modifiedMs }
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      if (!error.isChanged) return { type: 'failed', reason: error.message }
      memory.forget(path)
      return 'changed'
    }
  }

  /** Throws `Unread`. */
  const contentOf = async (path: string, target: string, stat: FileStat, { maxBytes }: ReadOptions): Promise<Content> => {
    const bytes = await files.read(target, maxBytes, { canonical: true }).catch(toFailure)
    const after = await statOf(files, path)
    await nextTurn() // I4
    if (after === undefined || after === 'unreadable' || after.identity !== stat.identity) throw new Unread('changes', true) // I2
    if (!(bytes instanceof Uint8Array)) throw new Unread(`cannot be read: ${bytes.message}`, false)
    const text = decode(bytes)
    if (text === undefined) throw new Unread('is not valid UTF-8', false)
    return { text, bytes }
  }

  return {
    kind: async (path) => (await look(path, 'kind'))?.kind,
    identity: async (path) => (await look(path, 'identity'))?.identity,
    async list(path) {
      const stat = await look(path, 'identity')
      if (stat?.kind !== 'directory') return []
      return memory.listings.recall(path, async () => {
        const entries = (await files.readDirectory(path).catch(absentUnlessPassing)) ?? []
        return sortInTurns(entries, byName, () => work.pay(SORTED))
      })
    },
    readText,
    canonical,
    dependencies: () => [...seen.values()],
    work,
    isFresh: () => fresh,
  }

  async function readText(path: string, options: ReadOptions): Promise<TextOutcome> {
    const anew: TextOutcome[] = []
    const { outcome, ...known } = await memory.outcomes.recall(
      path,
      async () => {
        const read = await readAnew(path, options)
        anew.push(read)
        return { options, outcome: read, dependencies: dependenciesOf(path, read) }
      },
      (answer) => answer.outcome.type === 'text',
    )
    if (anew.length > 0) return outcome
    const isAsked = known.options.maxBytes === options.maxBytes && known.options.within === options.within
    if (!isAsked || outcome.type !== 'text' || bytesRead + outcome.bytes.byteLength > MAX_BYTES) return readAnew(path, options)
    bytesRead += outcome.bytes.byteLength
    for (const [key, dependency] of known.dependencies) seen.set(key, dependency)
    return outcome
  }

  /** What the reading of a text has looked at. */
  function dependenciesOf(path: string, outcome: TextOutcome): [string, Dependency][] {
    const canonicalPath = outcome.type === 'text' ? outcome.canonical : path
    return [path, `exposure ${canonicalPath === path ? dirname(path) : path}`].flatMap((key): [string, Dependency][] => {
      const dependency = seen.get(key)
      return dependency === undefined ? [] : [[key, dependency]]
    })
  }

  async function readAnew(path: string, options: ReadOptions): Promise<TextOutcome> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const outcome = await readOnce(path, options)
      if (outcome !== 'changed') return outcome
    }
    return { type: 'failed', reason: 'changes while it is read' }
  }
}

class Unread extends Error {
  readonly isChanged: boolean
  constructor(reason: string, isChanged: boolean) {
    super(reason)
    this.isChanged = isChanged
  }
}

const ASKED = { recall: <T>(_path: string, compute: () => Promise<T>): Promise<T> => compute() }
const NO_MEMORY: Memory = {
  stats: ASKED,
  listings: ASKED,
  canonical: ASKED,
  exposures: ASKED,
  contents: ASKED,
  outcomes: ASKED,
  forget: () => undefined,
}

/** Whether every dependency would still answer the same. */
export async function areUnchanged(files: Files, dependencies: readonly Dependency[]): Promise<boolean> {
  for (let start = 0; start < dependencies.length; start += STATS_AT_ONCE) {
    const batch = dependencies.slice(start, start + STATS_AT_ONCE)
    const same = await Promise.all(batch.map(async ({ path, by, value }) => (await valueAt(files, path, by)) === value))
    if (same.includes(false)) return false
    if (start + STATS_AT_ONCE < dependencies.length) await nextTurn()
  }
  return true
}

async function statOf(files: Files, path: string): Promise<FileStat | undefined | 'unreadable'> {
  return files.stat(path).catch((error: unknown) => absentUnlessPassing(error) ?? ('unreadable' as const))
}

async function valueAt(files: Files, path: string, by: Dependency['by']): Promise<string> {
  return by === 'exposure' ? exposureAt(files, path) : valueOf(await statOf(files, path), by)
}

/** Empty when others have no hand in it; else the rest of a sentence that starts with a file. */
async function exposureAt(files: Files, path: string): Promise<string> {
  const exposed = await files.exposure(path).catch(toFailure)
  if (exposed === undefined) return ''
  return 'message' in exposed ? `is reached in a way that cannot be checked: ${exposed.message}` : reachedThrough(exposed)
}

function valueOf(stat: FileStat | undefined | 'unreadable', by: 'identity' | 'kind'): string {
  if (stat === undefined) return 'absent'
  return stat === 'unreadable' ? stat : stat[by]
}

/** An empty directory that takes the name while a command in the sandbox runs (`node/files/placeholders.ts`). */
function isPlaceholder({ kind, mode }: FileStat): boolean {
  return kind === 'directory' && (mode & 0o777) === 0o555
}

function whyNotRead(stat: FileStat, target: string, { within }: ReadOptions): string | undefined {
  if (stat.kind !== 'file') return 'is not a regular file'
  if (within !== undefined && !isWithin(within, target)) return `leads to a file outside ${within}`
  if (within !== undefined && isPrivate(relative(within, target))) return 'leads to a file that holds secrets'
  return stat.exposure
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
