/** Changes of a directory as clients see them (http-contract §2.17). */
import type { Checkout } from '../../actors/git-ports.js'
import type { NativeHost } from '../../actors/plugin/native/native.js'
import { LIMITS } from '../../protocol/limits.js'
import type { VcsFileDiff, VcsFileStatus } from '../../protocol/vcs/vcs.js'
import { candidates, trackedChanges, untrackedChanges } from './changes.js'
import type { Change } from './diff-output.js'
import { linesOf } from './untracked.js'

type Effects = Pick<NativeHost['effects'], 'files'>

export async function statusOf(effects: Effects, checkout: Checkout, signal: AbortSignal): Promise<VcsFileStatus[]> {
  const { tracked: among, untracked: paths } = await candidates(checkout, signal)
  const tracked = among.length === 0 ? [] : await trackedChanges(checkout, signal, { patches: false, among })
  const untracked: Change[] = []
  for (let at = 0; at < paths.length; at += LIMITS.vcs.countedAtOnce) {
    signal.throwIfAborted()
    const some = paths.slice(at, at + LIMITS.vcs.countedAtOnce)
    const counts = await Promise.all(some.map(async (path) => (path.endsWith('/') ? 0 : linesOf(effects, `${checkout.worktree}/${path}`))))
    untracked.push(
      ...some.map((path, index) => ({ path, status: 'added' as const, additions: counts[index] ?? 0, deletions: 0, patch: '' })),
    )
  }
  return merged(tracked, untracked).map(({ path, status, additions, deletions }) => ({ path, file: path, status, additions, deletions }))
}

export async function diffOf(checkout: Checkout, signal: AbortSignal): Promise<VcsFileDiff[]> {
  const [tracked, untracked] = await Promise.all([trackedChanges(checkout, signal, { patches: true }), untrackedChanges(checkout, signal)])
  return merged(tracked, untracked).map(({ path, status, additions, deletions, patch }) => ({
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
function merged(tracked: readonly Change[], untracked: readonly Change[]): Change[] {
  const byPath = new Map(tracked.map((change) => [change.path, change]))
  for (const change of untracked) {
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
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
