/** Changes of a directory as clients see them (http-contract §2.17). */
import type { Checkout } from '../../ports/git.js'
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { sortInTurns } from '../../kernel/sort.js'
import { beginWork, ENTRY } from '../../kernel/work.js'
import type { VcsFileDiff, VcsFileStatus } from '../../protocol/vcs/vcs.js'
import { candidates, trackedChanges, untrackedChanges } from './changes.js'
import type { Change } from './diff-output.js'
import { linesOf } from './untracked.js'

type Effects = Pick<NativeHost['effects'], 'files'>

/** Changes that are sorted between two looks at what was paid. */
const SORTED = 2048

export async function statusOf(effects: Effects, checkout: Checkout, signal: AbortSignal): Promise<VcsFileStatus[]> {
  const { tracked: among, untracked: paths } = await candidates(checkout, signal)
  const tracked = among.length === 0 ? [] : await trackedChanges(checkout, signal, { patches: false, among })
  const work = beginWork(Number.POSITIVE_INFINITY)
  const untracked: Change[] = []
  for (let at = 0; at < paths.length; at += LIMITS.vcs.countedAtOnce) {
    signal.throwIfAborted()
    const some = paths.slice(at, at + LIMITS.vcs.countedAtOnce)
    const counts = await Promise.all(
      some.map(async (path) => (path.endsWith('/') ? 0 : linesOf(effects, `${checkout.worktree}/${path}`, work))),
    )
    untracked.push(
      ...some.map((path, index) => ({ path, status: 'added' as const, additions: counts[index] ?? 0, deletions: 0, patch: '' })),
    )
  }
  return (await merged(tracked, untracked)).map(({ path, status, additions, deletions }) => ({
    path,
    file: path,
    status,
    additions,
    deletions,
  }))
}

export async function diffOf(checkout: Checkout, signal: AbortSignal): Promise<VcsFileDiff[]> {
  const [tracked, untracked] = await Promise.all([trackedChanges(checkout, signal, { patches: true }), untrackedChanges(checkout, signal)])
  return (await merged(tracked, untracked)).map(({ path, status, additions, deletions, patch }) => ({
    path,
    file: path,
    status,
    added: additions,
    removed: deletions,
    additions,
    deletions,
    patch,
    hunks: [{ patch }],
  }))
}

/** By path. A file that is no longer tracked and still there has changed. */
async function merged(tracked: readonly Change[], untracked: readonly Change[]): Promise<readonly Change[]> {
  const work = beginWork(Number.POSITIVE_INFINITY)
  const turn = () => work.pay(SORTED * ENTRY)
  const byPath = new Map(tracked.map((change) => [change.path, change]))
  await turn()
  for (const change of untracked) {
    await work.pay(ENTRY)
    const gone = byPath.get(change.path)
    byPath.set(
      change.path,
      gone === undefined
        ? change
        : {
            path: change.path,
            status: 'modified',
            additions: change.additions,
            deletions: gone.deletions,
            patch: gone.patch + change.patch,
          },
    )
  }
  return sortInTurns([...byPath.values()], (a, b) => (a.path < b.path ? -1 : 1), turn)
}
