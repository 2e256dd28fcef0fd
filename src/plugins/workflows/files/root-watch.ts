/**
 * One configuration directory under watch: when to look at it, and at what.
 *
 * I1 A report of a change leads to a look once nothing was reported for `debounce`, and at the latest after `debounceMost`.
 * I2 Reports are hints: paths of files are looked at alone, everything else is a reason to look at all of it.
 * I3 What is watched from now on is looked at once more: it may have changed before the watch was there.
 * I4 A directory that does not exist is asked after every `appearance`; nothing is watched above it.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { statOf } from './scan.js'

/** Paths to look at; `all` = everything. */
export type Dirty = ReadonlySet<string> | 'all'

export interface RootWatch {
  /** Watches what is not watched yet: the directory, and directories that links of it lead to. */
  cover(folders: readonly string[]): Promise<void>
  /** Something may have changed at `paths`; none = anywhere. */
  touch(paths: readonly string[]): void
  /** Looks at everything again after `ms`, unless a look comes first. */
  later(ms: number): void
  stop(): void
}

export interface RootWatchDeps {
  readonly effects: Pick<Effects, 'clock' | 'files'>
  /** Never rejects. */
  look(dirty: Dirty): Promise<void>
  /** The directory exists now and did not before. */
  onAppeared(): void
}

const SUFFIX = '.md'
/** More paths than this are everything. */
const MOST_PATHS = 256

export function watchRoot(path: string, { effects, look, onAppeared }: RootWatchDeps): RootWatch {
  const { clock, files } = effects
  const ends = new Map<string, () => void>()
  let dirty: Set<string> | 'all' | undefined
  let dirtySince = 0
  const settled = createAlarm(clock, flush)
  const repeat = createAlarm(clock, () => touch([]))
  const poll = createAlarm(clock, () => void appeared())
  let wasThere = false

  function touch(paths: readonly string[]): void {
    if (settled.isOver) return
    const now = clock.monotonic()
    if (dirty === undefined) dirtySince = now
    dirty ??= new Set()
    const isWhole = paths.length === 0 || paths.some((each) => !each.endsWith(SUFFIX)) // I2
    if (dirty !== 'all') {
      if (isWhole || dirty.size + paths.length > MOST_PATHS) dirty = 'all'
      else for (const each of paths) dirty.add(each)
    }
    const most = dirtySince + LIMITS.workflows.debounceMost - now
    settled.set(Math.max(0, Math.min(LIMITS.workflows.debounce, most))) // I1
  }

  function flush(): void {
    const what = dirty
    dirty = undefined
    if (what !== undefined) void look(what)
  }

  async function watchOne(directory: string): Promise<boolean> {
    if (ends.has(directory)) return true
    if (settled.isOver) return false
    const end = await files.watch(directory, (paths) => {
      if (paths.includes(directory)) lost(directory)
      touch(paths)
    })
    if (end === undefined) return false
    if (settled.isOver || ends.has(directory)) end()
    else ends.set(directory, end)
    touch([]) // I3
    return true
  }

  /** It may be gone, and what is made in its place needs a new watch. */
  function lost(directory: string): void {
    ends.get(directory)?.()
    ends.delete(directory)
    if (directory === path) ask()
  }

  function ask(): void {
    poll.set(LIMITS.workflows.appearance)
  }

  /** I4. Where nothing can be watched, asking is all there is. */
  async function appeared(): Promise<void> {
    const isThere = (await statOf(files, path))?.kind === 'directory'
    const appears = isThere && !wasThere
    wasThere = isThere
    if (!isThere || !(await watchOne(path))) ask()
    if (!isThere || settled.isOver) return
    if (appears) onAppeared()
    touch([])
  }

  return {
    async cover(folders) {
      wasThere = await watchOne(path)
      if (!wasThere) ask()
      const elsewhere = folders.filter((folder) => !isWithin(path, folder))
      for (const [directory, end] of ends) {
        if (directory === path || elsewhere.includes(directory)) continue
        ends.delete(directory)
        end()
      }
      for (const folder of elsewhere) if (![...ends.keys()].some((known) => isWithin(known, folder))) await watchOne(folder)
    },
    touch,
    later: repeat.set,
    stop() {
      for (const alarm of [settled, repeat, poll]) alarm.end()
      for (const end of ends.values()) end()
      ends.clear()
    },
  }
}
