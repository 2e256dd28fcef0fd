/**
 * The configuration of each directory in use, one snapshot for each (see `Watched`).
 *
 * I1 A malformed file never removes the good state there was before it.
 */
import { isDeepStrictEqual } from 'node:util'
import { SvcError } from '../../../protocol/errors.js'
import type { Effects } from '../../../ports/effects.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { createLru } from '../../../kernel/lru.js'
import { createWatcher } from '../../../platform/watched/looks.js'
import type { Watcher } from '../../../ports/watched.js'
import { type ConfigSnapshot, readSnapshot } from './snapshot.js'

interface SnapshotOptions {
  readonly fresh?: boolean
}

export interface Snapshots {
  /**
   * The same object until something else is said. Throws `config.invalid` while a file is malformed and nothing good was ever read
   * for the directory.
   */
  get(directory: string, options?: SnapshotOptions): Promise<ConfigSnapshot>
  /** What `get` would answer; undefined = it would have to look first, or throws. Cheap. */
  latest(directory: string): ConfigSnapshot | undefined
  /** As `get`, also when it is broken: `failures` and `diagnostics` tell. */
  inspect(directory: string): Promise<ConfigSnapshot>
  /** svc has written files of the directory. Looks at it, and tells that its configuration has changed. */
  written(directory: string): Promise<void>
  /** Whether changes of its files are looked for, because they cannot be heard. */
  isDeaf(directory: string): boolean
  /** Nobody uses the directory any more. */
  forget(directory: string): void
  /** `forgotten` is called with each directory that nobody uses any more. */
  onForgotten(forgotten: (directory: string) => void): void
}

export type SnapshotEffects = Pick<Effects, 'files' | 'clock' | 'env' | 'paths' | 'log' | 'sha256'>

/** A snapshot, or one that is broken and was never good. */
interface Seen {
  readonly snapshot: ConfigSnapshot
  readonly isUnusable: boolean
}

const TOLD = 4096

/** `onChanged` is told of directories in use whose configuration is another one now, soon after files changed. */
export function createSnapshots(
  effects: SnapshotEffects,
  onChanged?: (directory: string) => void,
  watched: Watcher = createWatcher(effects),
): Snapshots {
  /** Problems in the log, which a file of the installation has for every directory. */
  const told = createLru<string, true>(TOLD)
  const listeners: ((directory: string) => void)[] = []
  const looks = watched<undefined, Seen>({
    onChanged,
    async read(probe, directory, { before }) {
      const good = before === undefined || before.isUnusable ? undefined : before.snapshot
      const snapshot = await readSnapshot(effects, probe, directory, good) // I1
      report(snapshot, before?.snapshot)
      return { snapshot, isUnusable: good === undefined && snapshot.failures.length > 0 }
    },
    isSame: isDeepStrictEqual,
  })

  const report = (snapshot: ConfigSnapshot, before: ConfigSnapshot | undefined): void => {
    const now = new Set(snapshot.diagnostics.map(nameOf))
    for (const problem of before?.diagnostics ?? []) if (!now.has(nameOf(problem))) told.delete(nameOf(problem))
    for (const problem of snapshot.diagnostics) {
      const { level, path, message } = problem
      if (told.get(nameOf(problem)) === undefined) effects.log.warn('configuration problem', { severity: level, path, problem: message })
      told.set(nameOf(problem), true)
    }
  }

  const inspect = async (directory: string) => (await looks.get(directory, undefined, { fresh: true })).snapshot

  function latest(directory: string): ConfigSnapshot | undefined {
    const seen = looks.latest(directory)
    return seen?.isUnusable === false ? seen.snapshot : undefined
  }

  async function found(directory: string, options: Parameters<Snapshots['get']>[1]): Promise<ConfigSnapshot> {
    const { snapshot, isUnusable } = await looks.get(directory, undefined, options)
    if (!isUnusable) return snapshot
    const [failure] = snapshot.failures
    throw new SvcError('config.invalid', `${failure?.file ?? ''}${failure?.message ?? ''}`, { file: failure?.file })
  }

  return {
    get(directory, options) {
      const known = options?.fresh === true ? undefined : latest(directory)
      return known === undefined ? found(directory, options) : Promise.resolve(known)
    },
    latest,
    inspect,
    async written(directory) {
      looks.noteWrite(directory)
      await inspect(directory)
    },
    isDeaf: looks.isDeaf,
    forget(directory) {
      looks.forget(directory)
      for (const forgotten of listeners) forgotten(directory)
    },
    onForgotten: (forgotten) => void listeners.push(forgotten),
  }
}

function nameOf({ path, message }: ConfigDiagnostic): string {
  return `${path} ${message}`
}
