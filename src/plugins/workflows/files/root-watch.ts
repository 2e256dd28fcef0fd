/**
 * One configuration directory under watch: when to look at it, and at what; its life is `workflow-root.machine.ts`.
 *
 * I1 Reports are hints: paths of files are looked at alone, everything else is a reason to look at all of it.
 * I2 What is watched from now on is looked at once more: it may have changed before the watch was there.
 * I3 Of the folders above a directory that does not exist only their own entries are watched (`ways.ts`), until it does.
 * I4 A tree is watched as a whole (`Files.watch`), in `workflow` and `workflows` and in what links lead to, not folder by folder as
 *    `src/platform/watched` does: up to `LIMITS.workflows.folders` of each root would take the places of the configuration in what that
 *    may watch, and a report here has to name files, ten thousand of which are not asked for.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, type EventFrom, fromPromise } from 'xstate'
import { type Found, type RootInput, workflowRootMachine } from '../../../machines/workflows/workflow-root.machine.js'
import { createAlarm } from '../../../kernel/alarm.js'
import { isActive, reached } from '../../../kernel/reached.js'
import { isWithin } from '../../../protocol/caller.js'
import type { Effects } from '../../../ports/effects.js'
import { statOf } from './scan.js'
import { createWays, type Ways } from './ways.js'

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

export interface RootWatches {
  /** `key` is its own among those that are watched. */
  watch(key: string, path: string, deps: RootWatchDeps): RootWatch
}

interface RootWatchDeps {
  /** Never rejects. */
  look(dirty: Dirty): Promise<void>
  /** The directory exists now and did not before. */
  onAppeared(): void
}

const SUFFIX = '.md'
/** More paths than this are everything. */
const MOST_PATHS = 256

export function createRootWatches(effects: Pick<Effects, 'clock' | 'files'>): RootWatches {
  const ways = createWays(effects.files)
  const finds = new Map<string, () => Promise<Found>>()
  const logic = laidOut(
    chartOf(workflowRootMachine).provide({
      actors: { find: fromPromise<Found, RootInput>(async ({ input: { key } }) => (await finds.get(key)?.()) ?? 'absent') },
    }),
  )
  return {
    watch(key, path, deps) {
      const life = createActor(logic, { id: `workflow-root:${path}`, input: { key }, clock: effects.clock })
      const { find, ...watch } = watchRoot({ ...effects, ways }, { path, life }, deps)
      finds.set(key, find)
      life.start()
      void reached(life).then(() => {
        if (finds.get(key) === find) finds.delete(key)
      })
      return watch
    },
  }
}

interface Watched {
  readonly path: string
  readonly life: Actor<typeof workflowRootMachine>
}

function watchRoot(
  { clock, files, ways }: Pick<Effects, 'clock' | 'files'> & { readonly ways: Ways },
  { path, life }: Watched,
  { look, onAppeared }: RootWatchDeps,
): RootWatch & { find(): Promise<Found> } {
  const ends = new Map<string, () => void>()
  const way = ways.to(path, () => tell({ type: 'stirred' }))
  let dirty: Set<string> | 'all' | undefined
  const repeat = createAlarm(clock, () => touch([]))
  life.on('due', flush)
  life.on('appeared', onAppeared)
  life.on('found', () => touch([]))

  function tell(event: EventFrom<typeof workflowRootMachine>): void {
    if (isActive(life)) life.send(event)
  }

  function touch(paths: readonly string[]): void {
    const isWhole = paths.length === 0 || paths.some((each) => !each.endsWith(SUFFIX)) // I1
    dirty ??= new Set()
    if (dirty !== 'all') {
      if (isWhole || dirty.size + paths.length > MOST_PATHS) dirty = 'all'
      else for (const each of paths) dirty.add(each)
    }
    tell({ type: 'touched' })
  }

  function flush(): void {
    const what = dirty
    dirty = undefined
    if (what !== undefined) void look(what)
  }

  async function watchOne(directory: string): Promise<boolean> {
    if (ends.has(directory)) return true
    if (!isActive(life)) return false
    const end = await files.watch(directory, (paths) => {
      if (paths.includes(directory)) lost(directory)
      touch(paths)
    })
    if (end === undefined) return false
    if (!isActive(life) || ends.has(directory)) end()
    else ends.set(directory, end)
    if (directory === path) way.leave() // I3
    touch([]) // I2
    return true
  }

  /** It may be gone, and what is made in its place needs a new watch. */
  function lost(directory: string): void {
    ends.get(directory)?.()
    ends.delete(directory)
    if (directory === path) tell({ type: 'lost' })
  }

  async function find(): Promise<Found> {
    const isTold = await way.hear() // before it is looked at
    if ((await statOf(files, path).catch(() => undefined))?.kind !== 'directory') return isTold ? 'awaited' : 'absent'
    way.leave()
    return (await watchOne(path)) ? 'watched' : 'deaf'
  }

  return {
    find,
    async cover(folders) {
      tell({ type: 'covered', isWatched: await watchOne(path) })
      const elsewhere = folders.filter((folder) => !isWithin(path, folder))
      for (const [directory, end] of ends) {
        if (directory === path || elsewhere.includes(directory)) continue
        ends.delete(directory)
        end()
      }
      for (const folder of elsewhere) if (![...ends.keys()].some((known) => isWithin(known, folder))) await watchOne(folder)
    },
    touch,
    later: (ms) => repeat.set(ms),
    stop() {
      repeat.end()
      tell({ type: 'stop.requested' })
      way.end()
      for (const end of ends.values()) end()
      ends.clear()
    },
  }
}
