/**
 * Watches of directories that may appear and disappear.
 *
 * I1 What is watched stays watched, because what happened between two subscriptions would be told by neither.
 */
import type { Effects } from '../../../ports/effects.js'

export interface RootWatches {
  /** Watches those that are not watched yet; answers those that still are not. */
  renew(): Promise<readonly string[]>
  end(): void
}

export interface RootWatchesDeps {
  readonly effects: Pick<Effects, 'files'>
  readonly roots: readonly string[]
  onChanged(): void
  /** It may be gone, or another one: it has to be watched anew. */
  onLost(root: string): void
}

export function watchRoots({ effects: { files }, roots, onChanged, onLost }: RootWatchesDeps): RootWatches {
  const watches = new Map<string, () => void>()
  const over = new AbortController()

  function lose(root: string): void {
    watches.get(root)?.()
    if (watches.delete(root)) onLost(root)
  }

  /** Whether it is watched now. */
  async function begin(root: string): Promise<boolean> {
    const end = await files.watch(root, (changed) => {
      if (changed.includes(root)) lose(root) // perhaps its last word
      onChanged()
    })
    if (end === undefined) return false
    if (over.signal.aborted) end()
    else watches.set(root, end)
    return true
  }

  return {
    async renew() {
      const unwatched: string[] = []
      for (const root of roots) if (!watches.has(root) && !(await begin(root))) unwatched.push(root) // I1
      return unwatched
    },
    end() {
      over.abort()
      for (const end of watches.values()) end()
      watches.clear()
    },
  }
}
