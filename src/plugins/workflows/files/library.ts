/**
 * The workflow files of every context that is followed: directories shared between contexts are looked at and watched once.
 *
 * I1 A root is looked at once at a time, and what a look finds is announced only once its files have been quiet for the
 *    debounce: a file that is broken for a moment loses nothing. A look that a call asks for announces nothing by itself.
 * I2 Watchers may miss changes: every `relook` directories are asked whether they are as they were, and sometimes all files
 *    are; ten thousand files cost nothing otherwise.
 * I3 A look that fails changes nothing, and is repeated.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { LIMITS } from '../../../protocol/limits.js'
import { beginWork } from '../../../kernel/work.js'
import type { Effects } from '../../../ports/effects.js'
import { changedIds } from './catalog.js'
import { type Context, type PlaceOptions, type Root, rootsOf } from './places.js'
import { type Dirty, type RootWatch, watchRoot } from './root-watch.js'
import type { SourceCache } from './source-cache.js'
import { statOf } from './scan.js'
import { type Budget, readAgain, readSources, type Source, type SourceDeps, type Sources } from './sources.js'
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
  /** Looks, one after the other. */
  turn: Promise<void>
  isLoaded: boolean
  /** Identities of the listed directories. */
  marks: string
}

interface Followed {
  readonly context: Context
  shelves: readonly Shelf[]
  ready: Promise<void>
}

const FRESH = 100

export function createLibrary({ effects, places, cache, onChanged }: LibraryDeps): Library {
  const { clock, log } = effects
  const budget: Budget = { used: 0 }
  const shelves = new Map<string, Shelf>()
  const followed = new Map<string, Followed>()
  let relooks = 0
  const relook = createAlarm(clock, () => void lookAtAll())
  relook.set(LIMITS.workflows.relook)

  function shelfOf(root: Root): Shelf {
    const key = `${root.path}\0${root.within ?? ''}\0${root.owner ?? ''}`
    const known = shelves.get(key)
    if (known !== undefined) return known
    const watch = watchRoot(root.path, {
      effects,
      look: async (dirty) => {
        await lookAt(shelf, dirty)
        announce(shelf)
      },
      onAppeared: () => void Promise.all([...shelf.users].map((user) => plan(user))),
    })
    const sources: Sources = { root, files: new Map(), problems: [], folders: [], isFresh: false }
    const shelf: Shelf = { root, users: new Set(), watch, sources, pending: new Set(), turn: Promise.resolve(), isLoaded: false, marks: '' }
    shelves.set(key, shelf)
    return shelf
  }

  function leave(shelf: Shelf, user: string): void {
    shelf.users.delete(user)
    if (shelf.users.size > 0) return
    for (const [key, other] of shelves) if (other === shelf) shelves.delete(key)
    shelf.watch.stop()
    shelf.turn = shelf.turn.then(() => {
      for (const { size } of shelf.sources.files.values()) budget.used -= size
    })
  }

  /** Finds the roots of a context again: repositories and directories come and go. */
  async function plan(contextRoot: string): Promise<void> {
    const entry = followed.get(contextRoot)
    if (entry === undefined) return
    const roots = await rootsOf(effects, entry.context, places)
    if (relook.isOver || followed.get(contextRoot) !== entry) return
    const before = entry.shelves
    entry.shelves = roots.map(shelfOf)
    for (const shelf of entry.shelves) shelf.users.add(contextRoot)
    const gone = before.filter((shelf) => !entry.shelves.includes(shelf))
    const added = entry.shelves.filter((shelf) => !before.includes(shelf))
    for (const shelf of gone) leave(shelf, contextRoot)
    for (const shelf of added) await lookAt(shelf, 'all')
    if (before.length === 0) return
    const ids = [...gone, ...added].flatMap(({ sources }) => [...changedIds(undefined, sources)])
    if (ids.length > 0) onChanged(entry.context, new Set(ids))
  }

  /** Never rejects. */
  function lookAt(shelf: Shelf, dirty: Dirty): Promise<void> {
    shelf.turn = shelf.turn.then(async () => {
      if (relook.isOver || shelf.users.size === 0) return
      try {
        await lookNow(shelf, dirty)
      } catch (error) {
        log.warn('workflow files could not be looked at', { directory: shelf.root.path, cause: String(error) })
        shelf.watch.later(LIMITS.workflows.claimRetry) // I3
      }
    })
    return shelf.turn
  }

  async function lookNow(shelf: Shelf, dirty: Dirty): Promise<void> {
    const { root } = shelf
    if (!shelf.isLoaded) {
      shelf.sources = { ...shelf.sources, files: load(root) }
      shelf.isLoaded = true
    }
    const before = shelf.sources
    const { used } = budget
    const trial: Budget = { used }
    const deps: SourceDeps = { effects, budget: trial, work: beginWork(LIMITS.workflows.lookWork) }
    const known = dirty === 'all' ? undefined : [...dirty].map((path) => before.files.get(path))
    const after =
      known === undefined || known.includes(undefined) ? await readSources(deps, root, before.files) : await readSome(deps, before, known)
    budget.used += trial.used - used
    if (after.files !== before.files) await keep(root, before.files, after.files)
    shelf.sources = after
    for (const id of changedIds(before, after)) shelf.pending.add(id)
    shelf.marks = await marksOf(after.folders)
    await shelf.watch.cover(after.folders)
    if (after.isFresh) shelf.watch.later(FRESH)
  }

  /** What is not kept is read again by the next process. */
  async function keep({ path }: Root, before: Sources['files'], after: Sources['files']): Promise<void> {
    try {
      await cache.save(path, before, after)
    } catch (error) {
      log.warn('what was read of workflow files could not be kept for the next start', { directory: path, cause: String(error) })
    }
  }

  /** What the last process knew; it holds for files whose identity is the same. */
  function load(root: Root): ReadonlyMap<string, Source> {
    const files = cache.load(root.path)
    for (const { size } of files.values()) budget.used += size
    return files
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

  function announce(shelf: Shelf): void {
    if (relook.isOver || shelf.pending.size === 0) return
    const ids = new Set(shelf.pending)
    shelf.pending.clear()
    for (const user of shelf.users) {
      const entry = followed.get(user)
      if (entry !== undefined) onChanged(entry.context, ids)
    }
  }

  async function marksOf(folders: readonly string[]): Promise<string> {
    const stats = await Promise.all(folders.map((folder) => statOf(effects.files, folder)))
    return stats.map((stat) => stat?.identity ?? '').join(' ')
  }

  /** I2. */
  async function lookAtAll(): Promise<void> {
    const turn = takeTurns()
    const isWhole = ++relooks % LIMITS.workflows.relookAll === 0
    for (const root of followed.keys()) {
      await turn()
      await plan(root)
    }
    for (const shelf of shelves.values()) {
      await turn()
      if (!isWhole && (await marksOf(shelf.sources.folders)) === shelf.marks) continue
      await lookAt(shelf, 'all')
      announce(shelf)
    }
    relook.set(LIMITS.workflows.relook)
  }

  return {
    async follow(context) {
      const known = followed.get(context.root)
      if (known !== undefined) return known.ready
      const entry: Followed = { context, shelves: [], ready: Promise.resolve() }
      followed.set(context.root, entry)
      entry.ready = plan(context.root)
      return entry.ready
    },
    followed: async (root) => followed.get(root)?.ready,
    unfollow(root) {
      const entry = followed.get(root)
      followed.delete(root)
      for (const shelf of entry?.shelves ?? []) leave(shelf, root)
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
      for (const shelf of shelves.values()) shelf.watch.stop()
    },
  }
}
