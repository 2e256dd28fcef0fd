/**
 * What a command changes on disk, told by comparing before and after it (sessions-events §7.3).
 *
 * I1 In a repository git says where to look; elsewhere a bounded tree is compared. No tree is walked in a repository.
 * I2 What may have changed and was not kept is said (`unkept`), so that nobody undoes half of a command.
 */
import type { Checkout } from '../../../ports/git.js'
import type { FileStateNotes } from '../../../ports/doors.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ChangeNotes, FileSnapshot } from '../../../protocol/session/snapshot.js'
import { isUnchanged, observe, type Observed, stateOf } from './observed.js'
import { committed, dirtyPaths, pathsBetween } from './repository.js'
import { treePaths } from './tree.js'

export type ChangeHost = Pick<NativeHost, 'effects' | 'git' | 'fileStates'>

export interface CommandPlace {
  readonly sessionId: string
  /** Of the session, canonical. */
  readonly directory: string
  /** Canonical paths the command is known to write, wherever they are. */
  readonly writes: readonly string[]
}

export interface ChangeWatch {
  /** What has changed since the watch began. Never rejects. */
  end(signal: AbortSignal): Promise<ChangeNotes>
}

const CLOCK_GRAIN = 20

export async function watchChanges(host: ChangeHost, place: CommandPlace, signal: AbortSignal): Promise<ChangeWatch> {
  const { effects, git } = host
  const { files, clock, log } = effects
  const began = clock.now() - CLOCK_GRAIN
  const room = { bytes: LIMITS.undo.stateBytes }
  const before = new Map<string, Observed>()

  /** Undefined outside of a repository that git can be asked about. */
  async function openRepository(): Promise<{ readonly checkout: Checkout; readonly dirty: readonly string[] } | undefined> {
    try {
      const checkout = await git.open(place.directory)
      return checkout === undefined ? undefined : { checkout, dirty: await dirtyPaths(checkout, signal) }
    } catch (error) {
      signal.throwIfAborted()
      log.debug('a repository is compared without git', { cause: String(error) })
      return undefined
    }
  }

  const repository = await openRepository()
  const listed = repository?.dirty ?? (await treePaths(files, place.directory))
  if (listed === undefined || listed.length > LIMITS.undo.files) return { end: async () => ({ unkept: TOO_MANY }) }
  for (const path of [...listed, ...place.writes]) if (!path.endsWith('/')) before.set(path, await observe(files, path, room))

  /** Paths to compare, and what stood at those that were not observed. */
  async function compared(late: AbortSignal) {
    if (repository === undefined) {
      const now = await treePaths(files, place.directory)
      if (now === undefined) return undefined
      return { paths: new Set([...before.keys(), ...now]), earlier: new Map<string, Observed | string>() }
    }
    const checkout = await git.open(place.directory)
    if (checkout === undefined) return undefined
    const dirty = await dirtyPaths(checkout, late)
    const moved = await pathsBetween(checkout, repository.checkout.base, checkout.base, late)
    const paths = new Set([...before.keys(), ...dirty, ...moved])
    const fresh = [...paths].filter((path) => !before.has(path) && !path.endsWith('/'))
    const modes = new Map<string, number>()
    for (const path of fresh) {
      const entry = await files.entry(path)
      if (entry !== undefined) modes.set(path, entry.mode)
    }
    const earlier = await committed(repository.checkout, fresh, modes, late)
    return { paths, earlier }
  }

  async function notesOf(late: AbortSignal): Promise<ChangeNotes> {
    const found = await compared(late)
    if (found === undefined) return { unkept: TOO_MANY }
    const { paths, earlier } = found
    const notes = host.fileStates.begin(place.sessionId)
    const space = { bytes: LIMITS.undo.stateBytes }
    const unkept: string[] = []
    const snapshots: FileSnapshot[] = []
    const isIgnoringAnew = [...paths].some((path) => path.endsWith('/.gitignore') && !before.has(path))
    for (const path of [...paths].toSorted()) {
      const old = before.get(path) ?? earlier.get(path)
      if (path.endsWith('/') && !listed?.includes(path)) unkept.push(`${path} is a repository of its own`)
      if (path.endsWith('/') || (await isOlder(path, old))) continue
      const now = await observe(files, path, space)
      if (typeof old === 'string') unkept.push(`${path}: ${old}`)
      else if (old !== undefined && isUnchanged(old, now)) continue
      else if (isIgnoringAnew && !before.has(path) && old?.kind === 'absent') unkept.push(`${path} may have been there, ignored by git`)
      else {
        const snapshot = await snapshotOf(path, old ?? { kind: 'absent' }, now, notes)
        if (snapshot === undefined) unkept.push(`${path} is too large, or no text names it`)
        else snapshots.push(snapshot)
      }
    }
    if (snapshots.length > LIMITS.undo.partFiles) return { unkept: `the command changed ${snapshots.length} files, more than are kept` }
    return { ...(snapshots.length > 0 && { snapshots }), ...(unkept.length > 0 && { unkept: unkept.slice(0, TOLD).join('; ') }) }
  }

  /** Git tells of it now, but nobody has touched it: it was ignored before. */
  async function isOlder(path: string, old: Observed | string | undefined): Promise<boolean> {
    if (before.has(path) || typeof old === 'string' || old?.kind !== 'absent') return false
    const entry = await files.entry(path)
    return entry !== undefined && entry.changedMs < began
  }

  async function snapshotOf(path: string, old: Observed, now: Observed, notes: FileStateNotes): Promise<FileSnapshot | undefined> {
    if (path.includes('\uFFFD')) return undefined
    const [from, to] = [await stateOf(old, notes), await stateOf(now, notes)]
    if (from === undefined || to === undefined) return undefined
    if (!isWithin(place.directory, path)) return { path, absolute: true, before: from, after: to }
    return { path: path.slice(place.directory === '/' ? 1 : place.directory.length + 1), before: from, after: to }
  }

  return {
    async end(late) {
      try {
        return await notesOf(late)
      } catch (error) {
        log.warn('what a command changed could not be told', { sessionId: place.sessionId, cause: String(error) })
        return { unkept: 'what the command changed could not be compared' }
      }
    },
  }
}

const TOLD = 5
const TOO_MANY = 'the directory has too many files to compare them, and is no repository'
