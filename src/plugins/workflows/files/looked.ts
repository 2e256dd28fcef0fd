/** One look at the workflow files of a directory: at all of them, or at those that may have changed. */
import { beginWork } from '../../../kernel/work.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { Dirty } from './root-watch.js'
import { statOf } from './scan.js'
import type { SourceCache } from './source-cache.js'
import { type Budget, readAgain, readSources, type Source, type SourceDeps, type Sources } from './sources.js'

interface LookDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'sha256' | 'log'>
  readonly cache: SourceCache
  readonly budget: Budget
}

/** What is there now; it is kept for the next process. A look that fails leaves the budget as it was. */
export async function lookAtSources(deps: LookDeps, before: Sources, dirty: Dirty): Promise<Sources> {
  const { effects, budget } = deps
  const { used } = budget
  const trial: Budget = { used }
  const sourceDeps: SourceDeps = { effects, budget: trial, work: beginWork(LIMITS.workflows.lookWork) }
  const known = dirty === 'all' ? undefined : [...dirty].map((path) => before.files.get(path))
  const after =
    known === undefined || known.includes(undefined)
      ? await readSources(sourceDeps, before.root, before.files)
      : await readSome(sourceDeps, before, known)
  budget.used += trial.used - used
  if (after.files !== before.files) await keep(deps, before, after)
  return after
}

async function readSome(deps: SourceDeps, before: Sources, known: readonly (Source | undefined)[]): Promise<Sources> {
  const files = new Map(before.files)
  let isFresh = false
  let hasChanged = false
  for (const source of known) {
    if (source === undefined) continue
    const again = await readAgain(deps, source)
    isFresh ||= again.isFresh
    if (again.source === source) continue
    hasChanged = true
    if (again.source === undefined) files.delete(source.path)
    else files.set(source.path, again.source)
  }
  return hasChanged ? { ...before, files, isFresh } : { ...before, isFresh }
}

/** What is not kept is read again by the next process. */
async function keep({ cache, effects }: LookDeps, { root: { path }, files }: Sources, after: Sources): Promise<void> {
  try {
    await cache.save(path, files, after.files)
  } catch (error) {
    effects.log.warn('what was read of workflow files could not be kept for the next start', { directory: path, cause: String(error) })
  }
}

/** Identities of directories; of one of which nothing can be told, none: it is looked at. */
export async function marksOf(files: Effects['files'], folders: readonly string[]): Promise<string> {
  const stats = await Promise.all(folders.map((folder) => statOf(files, folder).catch(() => undefined)))
  return stats.map((stat) => stat?.identity ?? '').join(' ')
}
