/**
 * What can be called: contributions of every plugin, stamped with owner and generation (laws §10).
 *
 * I1 A set is validated whole and swapped in at once; a set that is not valid changes nothing.
 * I2 A conflict is the newcomer's: whoever was published first keeps what both contribute (plugin-protocol §13-9).
 * I3 What a session has its family has too: those below it in the same directory. Of a plugin that several of them have, the nearest
 *    counts; what else collides is the one's that stands above.
 * I4 A view is the same object until something it shows changes; an unused one is forgotten.
 */
import { startOrder } from '../../../machines/plugin/start-order.js'
import { SvcError } from '../../../protocol/errors.js'
import { createLru } from '../../../kernel/lru.js'
import type { Publication } from './publication.js'
import type { Line } from './family.js'
import { overlap, reachKey, reaches } from './reach.js'
import { createView, type Entry, stampEntry } from './registry-view.js'
import type { RegistryView, Subscriber } from '../../../ports/view.js'

export interface Registry {
  /** Replaces what the plugin contributes in this reach; throws `resource.conflict` or `plugin.invalid`, without effect. */
  publish(publication: Publication): void
  /** Takes the contributions of a generation out, unless another one has replaced them. */
  withdraw(publication: Publication): void
  /** What a directory sees, or one session of it (I3); plugins for which `isHidden` holds are left out. */
  view(directory: string, sessionId?: string): RegistryView
  /** Plugins a directory has switched off; undefined forgets the directory. */
  hide(directory: string, isHidden: ((pluginId: string) => boolean) | undefined): void
  isHidden(directory: string, pluginId: string): boolean
  /** What plugins offer within directories has changed. */
  refresh(): void
  /** Everybody who hears committed events, whatever the reach. Cheap: made once per change. */
  subscribers(): readonly Subscriber[]
  /** Names of the adapters that plugins bring, whatever the reach. */
  adapters(): ReadonlySet<string>
  /** Grows with every change. */
  readonly generation: number
}

const KEPT_VIEWS = 256
const NONE: readonly string[] = []

/** `line`: absent = no session stands below another. */
export function createRegistry(line: Line = (sessionId) => [sessionId]): Registry {
  const entries = new Map<string, Entry>()
  const hidden = new Map<string, (pluginId: string) => boolean>()
  const views = createLru<string, RegistryView>(KEPT_VIEWS)
  let generation = 0
  let subscribers: readonly Subscriber[] | undefined
  /** Sessions that have something of their own, by directory. */
  let owners: ReadonlyMap<string, ReadonlySet<string>> | undefined

  function changed(): void {
    generation++
    subscribers = undefined
    owners = undefined
    views.clear()
  }

  function refuseConflicts({ publication: { pluginId, reach }, keys }: Entry, id: string): void {
    for (const [otherId, other] of entries) {
      if (otherId === id || !overlap(reach, other.publication.reach)) continue
      const shared = [...keys].find((key) => other.keys.has(key))
      if (shared === undefined) continue
      const { pluginId: owner } = other.publication
      throw new SvcError('resource.conflict', `The ${shared} is already contributed by ${owner}.`, {
        pluginId,
        owner,
        contribution: shared,
      })
    }
  }

  /** Of the session and those above it, the ones for which there is something in the directory; the nearest first. */
  function withOwn(directory: string, sessionId: string): readonly string[] {
    const having = (owners ??= ownersOf(entries.values())).get(directory)
    return having === undefined ? NONE : line(sessionId).filter((id) => having.has(id))
  }

  const isHidden = (directory: string, pluginId: string): boolean => hidden.get(directory)?.(pluginId) ?? false

  return {
    isHidden,
    publish(publication) {
      const id = idOf(publication)
      const entry = stampEntry(publication)
      refuseConflicts(entry, id)
      entries.set(id, entry)
      changed()
    },
    withdraw(publication) {
      const id = idOf(publication)
      if (entries.get(id)?.source !== publication) return
      entries.delete(id)
      changed()
    },
    view(directory, sessionId) {
      const sessions = sessionId === undefined ? NONE : withOwn(directory, sessionId)
      const key = sessions.length === 0 ? directory : [directory, ...sessions].join('\0')
      const kept = views.get(key)
      if (kept !== undefined) return kept
      const seen = inFamily([...entries.values()], sessions)
        .filter(({ publication: { reach } }) => reaches(reach, directory, sessions))
        .flatMap((entry) => (isHidden(directory, entry.publication.pluginId) ? stays(entry) : [entry]))
      const view = createView(inOrder(seen), generation, directory, sessions[0])
      views.set(key, view)
      return view
    },
    hide(directory, now) {
      const before = hidden.get(directory)
      if (now === undefined) hidden.delete(directory)
      else hidden.set(directory, now)
      const differs = [...entries.values()].some(
        ({ publication: { pluginId } }) => (before?.(pluginId) ?? false) !== (now?.(pluginId) ?? false),
      )
      if (differs) changed()
    },
    refresh: changed,
    subscribers() {
      subscribers ??= [...entries.values()].flatMap(({ publication: { pluginId, contributions, reach } }) =>
        contributions.events === undefined ? [] : [{ pluginId, events: contributions.events, reach }],
      )
      return subscribers
    },
    adapters: () =>
      new Set([...entries.values()].flatMap(({ publication }) => (publication.contributions.providers ?? []).flatMap(({ npm }) => npm))),
    get generation() {
      return generation
    },
  }
}

function ownersOf(entries: Iterable<Entry>): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  for (const { publication } of entries) {
    const { reach } = publication
    if (reach.type === 'session') owners.set(reach.directory, (owners.get(reach.directory) ?? new Set()).add(reach.sessionId))
  }
  return owners
}

/** What judges or changes calls for the installation is not for a workspace to switch off, wherever it runs; what is built in goes as a whole. */
function stays(entry: Entry): Entry[] {
  const { publication } = entry
  if (publication.internal || publication.isOfWorkspace === true || entry.hooks.size === 0) return []
  const { hooks = {}, hookState, hookTools } = publication.contributions
  const contributions = { hooks, ...(hookState !== undefined && { hookState }), ...(hookTools !== undefined && { hookTools }) }
  return [{ ...entry, tools: [], publication: { ...publication, contributions } }]
}

function idOf({ pluginId, reach }: Publication): string {
  return `${pluginId} ${reachKey(reach)}`
}

/** I3: without what another session of the line is preferred to. */
function inFamily(entries: readonly Entry[], line: readonly string[]): readonly Entry[] {
  if (line.length < 2) return entries
  const own = line.flatMap((id) => entries.filter(({ publication: { reach } }) => reach.type === 'session' && reach.sessionId === id))
  const nearest = own.filter((entry) => own.find(({ stamp }) => stamp.pluginId === entry.stamp.pluginId) === entry)
  const taken = new Set<string>()
  const kept = new Set<Entry>()
  for (const entry of nearest.toReversed()) {
    if ([...entry.keys].some((key) => taken.has(key))) continue
    for (const key of entry.keys) taken.add(key)
    kept.add(entry)
  }
  return entries.filter((entry) => entry.publication.reach.type !== 'session' || kept.has(entry))
}

/** Built-ins in their own order, then by plugin id, dependencies first; of one plugin, the wider reach first. */
function inOrder(seen: readonly Entry[]): Entry[] {
  const others = seen.filter(({ publication }) => !publication.internal)
  const { order } = startOrder(others.map(({ publication: { pluginId, dependencies = [] } }) => ({ id: pluginId, dependencies })))
  const rank = new Map(order.map((id, index) => [id, index]))
  const rankOf = ({ publication: { pluginId } }: Entry) => rank.get(pluginId) ?? 0
  return [...seen.filter(({ publication }) => publication.internal), ...others.toSorted((a, b) => rankOf(a) - rankOf(b))]
}
