/**
 * Workspaces in use and the packages each of them has (plugin-protocol §3.5): one actor for each.
 *
 * I1 A workspace is looked at when something changed: files that are watched, the configuration, or directories that are not
 *    watched; these and what a watch may have missed are found when it is used.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { type ActorRefFrom, createActor, fromCallback, fromPromise } from 'xstate'
import { type Looked, type SessionUse, type WorkspaceInput, workspaceMachine } from '../../../machines/plugin/workspace.machine.js'
import type { Effects } from '../../../ports/effects.js'
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { waitAtMost } from '../../../kernel/patience.js'
import { supervise } from '../../../kernel/supervise.js'
import { pluginRoots } from '../../resource/config/config-files.js'
import type { ConfigSnapshot } from '../../resource/snapshot/snapshot.js'
import type { Snapshots } from '../../resource/snapshot/snapshots.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { type RootWatches, watchRoots } from './root-watches.js'

export interface Workspace {
  readonly directory: string
  /** Sessions that are awake or were visited, at this moment. */
  readonly sessions: ReadonlySet<string>
}

export interface WorkspacesDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log' | 'paths'>
  readonly snapshots: Snapshots
  readonly actors?: ActorRegistry | undefined
  /** Takes one look and tells the packages; whether there are packages with an instance for each session. */
  look(workspace: Workspace, snapshot: ConfigSnapshot): Promise<Pick<Looked, 'perSession'>>
  /** Nobody uses the workspace any more, or nobody visits the session. */
  onIdle(directory: string, sessionId?: string): void
}

export interface Workspaces {
  /**
   * Looks when something may have changed, otherwise answers at once; waits for the look `PATIENCE` ms at most. The end of a
   * session is told by `sessionEnded`, unless it is a visit.
   */
  use(directory: string, session?: SessionUse): Promise<void>
  /** Whether `use` would tell nobody, look at nothing and wait for nothing. */
  isCurrent(directory: string, session?: SessionUse): boolean
  /** Looks now, at everything. */
  refresh(directory: string): Promise<void>
  /** The workspace it was used in. */
  sessionEnded(sessionId: string): string | undefined
  /** Something that every workspace may depend on has changed. */
  refreshAll(): void
  stop(): void
}

/** What an actor's effects hold. */
interface Held {
  readonly ref: ActorRefFrom<typeof workspaceMachine>
  /** The configuration of the last look. */
  seen: ConfigSnapshot | undefined
  watches: RootWatches | undefined
  /** When the machine was told last that nobody in particular uses it; monotonic ms. */
  usedAt: number
}

const PATIENCE = 1000
/** Uses by nobody in particular that follow so soon, ms, are not told: the machine counts them in minutes. */
const SOON = 1000

export function createWorkspaces({ effects, snapshots, actors, look, onIdle }: WorkspacesDeps): Workspaces {
  const { clock } = effects
  const tracked = new Map<string, Held>()

  const logic = workspaceLogic(effects, tracked, lookAt)
  const workspaces = supervise<typeof workspaceMachine>({
    effects,
    kind: 'workspace',
    actors,
    onEnded(directory, ref, how) {
      if (how === 'error') tracked.get(directory)?.watches?.end()
      tracked.delete(directory)
      if (how === 'done' && ref.getSnapshot().hasTag('idle')) onIdle(directory)
    },
  })

  async function lookAt(directory: string, held: Held): Promise<Looked> {
    const unwatched = (await held.watches?.renew()) ?? []
    held.seen = await snapshots.get(directory, { fresh: true })
    const workspace: Workspace = {
      directory,
      get sessions() {
        return new Set(held.ref.getSnapshot().context.sessions)
      },
    }
    return { unwatched, ...(await look(workspace, held.seen)) }
  }

  /** Undefined once stopping. */
  function track(directory: string): Held | undefined {
    workspaces.start(directory, (options) => {
      const ref = createActor(logic, { id: `workspace:${directory}`, input: { directory }, ...options })
      ref.on('session.idle', ({ sessionId }) => onIdle(directory, sessionId))
      tracked.set(directory, { ref, seen: undefined, watches: undefined, usedAt: Number.NEGATIVE_INFINITY })
      return ref
    })
    return workspaces.isDraining ? undefined : tracked.get(directory)
  }

  /** At once while no look is under way. */
  const untilLooked = (directory: string) => workspaces.until(directory, (snapshot) => !snapshot.hasTag('looking'))

  /** Whether nobody in particular used it for a while; from now on somebody has. */
  function isLongAgo(held: Held): boolean {
    const now = clock.monotonic()
    if (now - held.usedAt < SOON) return false
    held.usedAt = now
    return true
  }

  /** What no watch tells. */
  async function isChanged(directory: string, held: Held): Promise<boolean> {
    const snapshot = await snapshots.get(directory).catch(() => held.seen)
    if (snapshot !== held.seen) return true
    return held.ref.getSnapshot().context.unwatched.some((root) => snapshot?.pluginFolders.includes(root))
  }

  return {
    isCurrent(directory, session) {
      const held = tracked.get(directory)
      const snapshot = snapshots.latest(directory)
      return held !== undefined && snapshot !== undefined && isSeen(held, snapshot, { session, at: clock.monotonic() })
    },
    async use(directory, session) {
      const held = track(directory)
      if (held === undefined) return
      const { ref } = held
      const { context } = ref.getSnapshot()
      const isNewcomer = session !== undefined && !holds(context.sessions, session.sessionId)
      if (session === undefined ? isLongAgo(held) : isNewcomer || holds(context.visits, session.sessionId))
        ref.send({ type: 'used', session })
      const isDue = (isNewcomer && context.perSession) || ref.getSnapshot().hasTag('due') || (await isChanged(directory, held))
      if (isDue) ref.send({ type: 'look.requested' })
      if (ref.getSnapshot().hasTag('looking')) await waitAtMost(clock, untilLooked(directory), PATIENCE)
    },
    async refresh(directory) {
      if (track(directory) === undefined) return
      workspaces.send(directory, { type: 'used', session: undefined })
      await untilLooked(directory)
      workspaces.send(directory, { type: 'look.requested' })
      await untilLooked(directory)
    },
    sessionEnded(sessionId) {
      for (const [directory, { ref }] of tracked) {
        if (!ref.getSnapshot().context.sessions.includes(sessionId)) continue
        ref.send({ type: 'session.ended', sessionId })
        return directory
      }
      return undefined
    },
    refreshAll() {
      for (const directory of workspaces.keys()) workspaces.send(directory, { type: 'files.changed' })
    },
    stop() {
      void workspaces.drain((ref) => ref.send({ type: 'stop.requested' }))
    },
  }
}

/** What long lists of a machine hold, by the lists, which never change: there may be thousands of sessions, and each step asks ten times. */
const setOf = new WeakMap<readonly string[], ReadonlySet<string>>()
const SHORT = 16

function holds(ids: readonly string[], id: string): boolean {
  if (ids.length <= SHORT) return ids.includes(id)
  const known = setOf.get(ids) ?? new Set(ids)
  setOf.set(ids, known)
  return known.has(id)
}

/** Nobody is new to it, and nothing has changed since it was looked at. */
function isSeen(
  { ref, seen, usedAt }: Held,
  snapshot: ConfigSnapshot,
  { session, at }: { readonly session: SessionUse | undefined; readonly at: number },
): boolean {
  const now = ref.getSnapshot()
  if (snapshot !== seen || now.status !== 'active' || now.hasTag('due') || now.hasTag('looking')) return false
  const { sessions, visits, unwatched } = now.context
  const isKnown = session === undefined ? at - usedAt < SOON : holds(sessions, session.sessionId) && !holds(visits, session.sessionId)
  return isKnown && !unwatched.some((root) => snapshot.pluginFolders.includes(root))
}

function workspaceLogic(
  effects: WorkspacesDeps['effects'],
  tracked: ReadonlyMap<string, Held>,
  lookAt: (directory: string, held: Held) => Promise<Looked>,
): typeof workspaceMachine {
  const logic = chartOf(workspaceMachine).provide({
    actors: {
      watches: fromCallback<{ type: string }, WorkspaceInput>(({ input: { directory }, sendBack }) => {
        const watches = watchRoots({
          effects,
          roots: pluginRoots(effects, directory),
          onChanged: () => sendBack({ type: 'files.changed' }),
          onLost: (root) => sendBack({ type: 'watch.lost', root }),
        })
        const held = tracked.get(directory)
        if (held !== undefined) held.watches = watches
        return () => watches.end()
      }),
      look: fromPromise<Looked, WorkspaceInput>(async ({ input: { directory } }) => {
        const held = tracked.get(directory)
        if (held === undefined) throw new Error('the workspace is not in use any more')
        try {
          return await lookAt(directory, held)
        } catch (error) {
          effects.log.warn('the plugins of a workspace could not be looked at', { directory, cause: String(error) })
          throw error
        }
      }),
    },
  })
  return laidOut(logic)
}
