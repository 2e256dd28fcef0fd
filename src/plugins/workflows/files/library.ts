/**
 * The workflow files of every context that is followed: directories shared between contexts are looked at and watched once.
 *
 * I1 A root is looked at once at a time, and what a look finds is announced only once its files have been quiet for the
 *    debounce: a file that is broken for a moment loses nothing. A look that a call asks for announces nothing by itself.
 * I2 Watchers may miss changes: every `relook` directories are asked whether they are as they were, and sometimes all files
 *    are; ten thousand files cost nothing otherwise.
 * I3 A look that fails changes nothing, and is repeated.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import { type LookInput, lookMachine } from '../../../machines/look/look.machine.js'
import { type Alarm, createAlarm } from '../../../kernel/alarm.js'
import { ask, leave, lookedAnew } from '../../../kernel/looked.js'
import { reached } from '../../../kernel/reached.js'
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'
import type { Effects } from '../../../ports/effects.js'
import { changedIds } from './catalog.js'
import { type Context, type PlaceOptions, type Root, rootsOf } from './places.js'
import { createRootWatches, type Dirty, type RootWatch, type RootWatches } from './root-watch.js'
import { lookAtSources, marksOf } from './looked.js'
import type { SourceCache } from './source-cache.js'
import type { Budget, Sources } from './sources.js'
import { takeTurns } from '../turns.js'

export interface Library {
  /** Looks at the files of a context and keeps looking; resolves once they were seen. */
  follow(context: Context): Promise<void>
  /** Resolves once the files of a followed context were seen. */
  followed(root: string): Promise<void>
  unfollow(root: string): void
  context(root: string): Context | undefined
  contexts(): IterableIterator<Context>
  /** What is known, lowest precedence first; empty for a context that is not followed. */
  sources(root: string): readonly Sources[]
  /** Looks now at everything of a context. */
  look(root: string): Promise<void>
  /** Has the files around a path looked at soon, and `id` announced whatever is found. */
  suspect(root: string, path: string, id: string): void
  stop(): void
}

export interface LibraryDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'paths' | 'sha256' | 'log'>
  readonly places: PlaceOptions
  readonly cache: SourceCache
  /** Workflows of a context whose defining files may have changed. Must not throw. */
  onChanged(context: Context, ids: ReadonlySet<string>): void
}

interface Shelf {
  readonly root: Root
  readonly users: Set<string>
  readonly watch: RootWatch
  sources: Sources
  /** Ids to be announced. */
  readonly pending: Set<string>
  /** What the next look is at. */
  due: Dirty | undefined
  /** One look at a time. */
  readonly looks: Looker
  isLoaded: boolean
  /** Identities of the listed directories. */
  marks: string
}

interface Followed {
  readonly context: Context
  shelves: readonly Shelf[]
  /** Looks for its roots, and at those that are new. */
  readonly looks: Looker
}

type Looker = Actor<typeof lookMachine>

/** Every root that is looked at, and the contexts that use it. */
interface Shelves {
  readonly deps: LibraryDeps
  readonly budget: Budget
  readonly shelves: Map<string, Shelf>
  readonly followed: Map<string, Followed>
  /** Looks for the roots of a context; looks at a root. */
  readonly planner: (contextRoot: string) => Looker
  readonly looker: (key: string) => Looker
  readonly watches: RootWatches
  readonly relook: Alarm
  relooks: number
}

export function createLibrary(deps: LibraryDeps): Library {
  const followed = new Map<string, Followed>()
  const relook = createAlarm(deps.effects.clock, () => void lookAtAll(library))
  relook.set(LIMITS.workflows.relook)
  const library: Shelves = {
    deps,
    budget: { used: 0 },
    shelves: new Map(),
    followed,
    planner: lookersOf(deps, (root) => plan(library, root)),
    looker: lookersOf(deps, (key) => lookNow(library, key)),
    watches: createRootWatches(deps.effects),
    relook,
    relooks: 0,
  }
  return {
    follow: (context) => follow(library, context),
    async followed(root) {
      const entry = followed.get(root)
      if (entry !== undefined) await seen(entry)
    },
    unfollow(root) {
      const entry = followed.get(root)
      if (entry === undefined) return
      followed.delete(root)
      leave(entry.looks)
      for (const shelf of entry.shelves) abandon(library, shelf, root)
    },
    context: (root) => followed.get(root)?.context,
    *contexts() {
      for (const { context } of followed.values()) yield context
    },
    sources: (root) => followed.get(root)?.shelves.map(({ sources }) => sources) ?? [],
    async look(root) {
      const entry = followed.get(root)
      if (entry === undefined) return
      await Promise.all(entry.shelves.map((shelf) => lookAt(shelf, 'all')))
      for (const shelf of entry.shelves) if (shelf.pending.size > 0) shelf.watch.touch([]) // I1
    },
    suspect(root, path, id) {
      for (const shelf of followed.get(root)?.shelves ?? []) {
        if (!shelf.sources.files.has(path)) continue
        shelf.pending.add(id)
        shelf.watch.touch([path])
      }
    },
    stop() {
      relook.end()
      for (const { looks } of followed.values()) leave(looks)
      for (const { looks, watch } of library.shelves.values()) {
        leave(looks)
        watch.stop()
      }
    },
  }
}

async function follow(library: Shelves, context: Context): Promise<void> {
  const known = library.followed.get(context.root)
  if (known !== undefined) return seen(known)
  const entry: Followed = { context, shelves: [], looks: library.planner(context.root) }
  library.followed.set(context.root, entry)
  ask(entry.looks)
  return seen(entry)
}

/** Resolves once its files were looked at. */
async function seen({ looks }: Followed): Promise<void> {
  await reached(looks, ({ context }) => context.ended > 0)
}

/** Makes actors that look at what goes by a name. */
function lookersOf({ effects: { clock } }: LibraryDeps, look: (what: string) => Promise<void>): (what: string) => Looker {
  const logic = laidOut(chartOf(lookMachine).provide({ actors: { look: fromPromise<void, LookInput>(({ input }) => look(input.what)) } }))
  return (what) => createActor(logic, { id: `look:${what}`, input: { what }, clock }).start()
}

function shelfOf(library: Shelves, root: Root): Shelf {
  const key = `${root.path}\0${root.within ?? ''}\0${root.owner ?? ''}`
  const known = library.shelves.get(key)
  if (known !== undefined) return known
  const watch = library.watches.watch(key, root.path, {
    look: async (dirty) => {
      await lookAt(shelf, dirty)
      announce(library, shelf)
    },
    onAppeared() {
      for (const { looks, shelves } of library.followed.values()) if (shelves.includes(shelf)) ask(looks)
    },
  })
  const sources: Sources = { root, files: new Map(), problems: [], folders: [], isFresh: false }
  const looks = library.looker(key)
  const shelf: Shelf = { root, users: new Set(), watch, sources, pending: new Set(), due: undefined, looks, isLoaded: false, marks: '' }
  library.shelves.set(key, shelf)
  return shelf
}

function abandon({ shelves, budget }: Shelves, shelf: Shelf, user: string): void {
  shelf.users.delete(user)
  if (shelf.users.size > 0) return
  for (const [key, other] of shelves) if (other === shelf) shelves.delete(key)
  shelf.watch.stop()
  leave(shelf.looks)
  void reached(shelf.looks).then(() => {
    for (const { size } of shelf.sources.files.values()) budget.used -= size
  })
}

/** Finds the roots of a context again: repositories and directories come and go. */
async function plan(library: Shelves, contextRoot: string): Promise<void> {
  const { deps, followed } = library
  const entry = followed.get(contextRoot)
  if (entry === undefined) return
  const roots = await rootsOf(deps.effects, entry.context, deps.places)
  if (isLeft(entry)) return
  const before = entry.shelves
  entry.shelves = roots.map((root) => shelfOf(library, root))
  for (const shelf of entry.shelves) shelf.users.add(contextRoot)
  const gone = before.filter((shelf) => !entry.shelves.includes(shelf))
  const added = entry.shelves.filter((shelf) => !before.includes(shelf))
  for (const shelf of gone) abandon(library, shelf, contextRoot)
  for (const shelf of added) await lookAt(shelf, 'all')
  if (before.length === 0) return
  const ids = [...gone, ...added].flatMap(({ sources }) => [...changedIds(undefined, sources)])
  if (ids.length > 0) deps.onChanged(entry.context, new Set(ids))
}

/** Never rejects. */
function lookAt(shelf: Shelf, dirty: Dirty): Promise<void> {
  shelf.due = shelf.due === undefined ? dirty : bothOf(shelf.due, dirty)
  return lookedAnew(shelf.looks)
}

function bothOf(a: Dirty, b: Dirty): Dirty {
  return a === 'all' || b === 'all' ? 'all' : new Set([...a, ...b])
}

async function lookNow({ deps, budget, shelves }: Shelves, key: string): Promise<void> {
  const shelf = shelves.get(key)
  if (shelf === undefined) return
  const dirty = shelf.due ?? 'all'
  shelf.due = undefined
  try {
    await lookWithin({ ...deps, budget }, shelf, dirty)
  } catch (error) {
    deps.effects.log.warn('workflow files could not be looked at', { directory: shelf.root.path, cause: String(error) })
    shelf.watch.later(delayOf(LIMITS.workflows.claimRetry)) // I3
  }
}

async function lookWithin(deps: LibraryDeps & Pick<Shelves, 'budget'>, shelf: Shelf, dirty: Dirty): Promise<void> {
  if (!shelf.isLoaded) {
    shelf.sources = { ...shelf.sources, files: load(deps.cache, deps.budget, shelf.root) }
    shelf.isLoaded = true
  }
  const before = shelf.sources
  const after = await lookAtSources(deps, before, dirty)
  shelf.sources = after
  for (const id of changedIds(before, after)) shelf.pending.add(id)
  shelf.marks = await marksOf(deps.effects.files, after.folders)
  await shelf.watch.cover(after.folders)
  if (after.isFresh) shelf.watch.later(LIMITS.files.grain)
}

/** What the last process knew; it holds for files whose identity is the same. */
function load(cache: SourceCache, budget: Budget, root: Root): Sources['files'] {
  const files = cache.load(root.path)
  for (const { size } of files.values()) budget.used += size
  return files
}

function announce({ deps, followed }: Shelves, shelf: Shelf): void {
  if (isLeft(shelf) || shelf.pending.size === 0) return
  const ids = new Set(shelf.pending)
  shelf.pending.clear()
  for (const user of shelf.users) {
    const entry = followed.get(user)
    if (entry !== undefined) deps.onChanged(entry.context, ids)
  }
}

/** Nobody looks at it any more. */
function isLeft({ looks }: Pick<Shelf, 'looks'>): boolean {
  return looks.getSnapshot().hasTag('leaving')
}

/** I2. */
async function lookAtAll(library: Shelves): Promise<void> {
  const { deps, shelves, followed, relook } = library
  const turn = takeTurns()
  const isWhole = ++library.relooks % LIMITS.workflows.relookAll === 0
  for (const { looks } of followed.values()) {
    await turn()
    await lookedAnew(looks)
  }
  for (const shelf of shelves.values()) {
    await turn()
    if (!isWhole && (await marksOf(deps.effects.files, shelf.sources.folders)) === shelf.marks) continue
    await lookAt(shelf, 'all')
    announce(library, shelf)
  }
  relook.set(LIMITS.workflows.relook)
}
