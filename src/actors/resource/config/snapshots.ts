/**
 * The cache of snapshots, one per directory.
 *
 * I1 A snapshot serves only while every path it depends on looks the same. I2 Without `fresh` a look at most half a
 * second old is trusted, unless svc itself has written since. I3 A directory is looked at once at a time; a caller that wants a fresh look never gets one
 * that began before it asked. I4 A malformed file never removes the good state there was before it.
 */
import { SvcError } from '../../../protocol/errors.js'
import type { Effects } from '../../effects.js'
import { areUnchanged, createFileProbe, type Dependency } from './file-probe.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { createLru } from '../../../protocol/lru.js'
import { type ConfigSnapshot, readSnapshot } from './snapshot.js'

interface SnapshotOptions {
  readonly fresh?: boolean
}

export interface Snapshots {
  /** Throws `config.invalid` while a file is malformed and nothing good was ever read for the directory. */
  get(directory: string, options?: SnapshotOptions): Promise<ConfigSnapshot>
  /** As `get`, also when it is broken: `failures` and `diagnostics` tell. */
  inspect(directory: string): Promise<ConfigSnapshot>
  /** svc has written a file: what was seen before counts for no directory. */
  noteWrite(): void
}

export type SnapshotEffects = Pick<Effects, 'files' | 'clock' | 'env' | 'paths' | 'log' | 'sha256'>

interface Entry {
  readonly snapshot: ConfigSnapshot
  readonly dependencies: readonly Dependency[]
  /** Something was so new that a change right after the read might not show. */
  readonly isFresh: boolean
  /** Broken and never good before. */
  readonly isUnusable: boolean
  readonly checkedAt: number
}

interface Look {
  readonly result: Promise<Entry>
  hasBegun: boolean
  next: Look | undefined
}

const TRUSTED_FOR = 500
const DIRECTORIES = 64
const TOLD = 4096

export function createSnapshots(effects: SnapshotEffects): Snapshots {
  const entries = createLru<string, Entry>(DIRECTORIES)
  const looks = new Map<string, Look>()
  /** Problems in the log, which a file of the installation has for every directory. */
  const told = createLru<string, true>(TOLD)
  let writtenAt = Number.NEGATIVE_INFINITY

  const current = async (directory: string, wantsFresh: boolean): Promise<Entry> => {
    const fresh = wantsFresh || effects.clock.monotonic() - writtenAt <= TRUSTED_FOR
    const entry = entries.get(directory)
    if (!fresh && entry !== undefined && effects.clock.monotonic() - entry.checkedAt <= TRUSTED_FOR) return entry // I2
    const look = looks.get(directory)
    if (look === undefined) return start(directory)
    if (!fresh || !look.hasBegun) return look.result
    look.next ??= queue(directory, look)
    return look.next.result // I3
  }

  const start = async (directory: string): Promise<Entry> => {
    const look = begin(directory, Promise.resolve())
    looks.set(directory, look)
    return look.result
  }

  const queue = (directory: string, before: Look): Look => begin(directory, before.result.then(noop, noop))

  const begin = (directory: string, turn: Promise<void>): Look => {
    const work = async () => {
      await turn
      looks.set(directory, look)
      look.hasBegun = true
      try {
        const entry = await refresh(directory)
        entries.set(directory, entry)
        return entry
      } finally {
        if (look.next === undefined) looks.delete(directory)
      }
    }
    const look: Look = { hasBegun: false, next: undefined, result: Promise.resolve().then(work) }
    return look
  }

  const refresh = async (directory: string): Promise<Entry> => {
    const known = entries.get(directory)
    const checkedAt = effects.clock.monotonic()
    if (known !== undefined && !known.isFresh && (await areUnchanged(effects.files, known.dependencies))) return { ...known, checkedAt } // I1
    const probe = createFileProbe(effects)
    const good = known === undefined || known.isUnusable ? undefined : known.snapshot
    const snapshot = await readSnapshot(effects, probe, directory, good) // I4
    report(snapshot, known?.snapshot)
    const isUnusable = good === undefined && snapshot.failures.length > 0
    return { snapshot, dependencies: probe.dependencies(), isFresh: probe.isFresh(), isUnusable, checkedAt }
  }

  const report = (snapshot: ConfigSnapshot, before: ConfigSnapshot | undefined): void => {
    const now = new Set(snapshot.diagnostics.map(nameOf))
    for (const problem of before?.diagnostics ?? []) if (!now.has(nameOf(problem))) told.delete(nameOf(problem))
    for (const problem of snapshot.diagnostics) {
      const { level, path, message } = problem
      if (told.get(nameOf(problem)) === undefined) effects.log.warn('configuration problem', { severity: level, path, problem: message })
      told.set(nameOf(problem), true)
    }
  }

  return {
    async get(directory, options) {
      const { snapshot, isUnusable } = await current(directory, options?.fresh === true)
      if (!isUnusable) return snapshot
      const [failure] = snapshot.failures
      throw new SvcError('config.invalid', `${failure?.file ?? ''}${failure?.message ?? ''}`, { file: failure?.file })
    },
    noteWrite() {
      writtenAt = effects.clock.monotonic()
    },
    inspect: async (directory) => (await current(directory, true)).snapshot,
  }
}

function nameOf({ path, message }: ConfigDiagnostic): string {
  return `${path} ${message}`
}

function noop(): void {}
