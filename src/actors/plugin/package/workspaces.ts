/**
 * Workspaces in use and the packages each of them has (plugin-protocol §3.5).
 *
 * I1 A workspace is looked at once at a time; a change that is told meanwhile leads to one more look, and so does a look
 *    that failed.
 * I2 Looks happen when something changed: files (watched, or the last look is `recheck` old) or the configuration.
 * I3 A workspace that nobody used for `idleTeardown` is forgotten, and what ran for it is retired; so is what ran for a
 *    session that was visited only and not for as long.
 */
import { join } from 'node:path'
import type { Effects } from '../../effects.js'
import { waitAtMost } from '../../../protocol/patience.js'
import type { ConfigSnapshot } from '../../resource/config/snapshot.js'
import type { Snapshots } from '../../resource/config/snapshots.js'
import { LIMITS } from '../../../protocol/limits.js'

export interface Workspace {
  readonly directory: string
  /** Sessions that are awake or were visited. */
  readonly sessions: ReadonlySet<string>
}

export interface WorkspacesDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log' | 'paths'>
  readonly snapshots: Snapshots
  /** Takes one look and tells the packages; whether there are packages with an instance for each session. */
  look(workspace: Workspace, snapshot: ConfigSnapshot): Promise<{ readonly perSession: boolean }>
  /** Nobody uses the workspace any more, or nobody visits the session. */
  onIdle(directory: string, sessionId?: string): void
}

export interface Workspaces {
  /**
   * Looks when something may have changed, otherwise answers at once; waits for the look `PATIENCE` ms at most. The end of a
   * session is told by `sessionEnded`, unless it is a visit.
   */
  use(directory: string, session?: { readonly sessionId: string; readonly isVisit: boolean }): Promise<void>
  /** Looks now, at everything. */
  refresh(directory: string): Promise<void>
  /** The workspace it was used in. */
  sessionEnded(sessionId: string): string | undefined
  /** Something that every workspace may depend on has changed. */
  refreshAll(): void
  stop(): void
}

interface Tracked extends Workspace {
  readonly sessions: Set<string>
  /** Those of the sessions that were visited only, and when last. */
  readonly visits: Map<string, number>
  seen: ConfigSnapshot | undefined
  lookedAt: number
  usedAt: number
  isDirty: boolean
  /** Plugin directories that are not watched: because they do not exist, or because they cannot be. */
  unwatched: readonly { readonly root: string; readonly exists: boolean }[]
  perSession: boolean
  looking: Promise<void> | undefined
  /** Ends of the subscriptions, by plugin directory. */
  readonly watches: Map<string, () => void>
}

const PATIENCE = 1000
const DEBOUNCE = 50
/** A look although no change was told: watchers may miss some. */
const RELOOK = 30_000

export function createWorkspaces({ effects, snapshots, look, onIdle }: WorkspacesDeps): Workspaces {
  const { clock, files, log, paths } = effects
  const tracked = new Map<string, Tracked>()
  let stopped = false
  let sweep: unknown

  function track(directory: string): Tracked {
    const known = tracked.get(directory)
    if (known !== undefined) return known
    const workspace: Tracked = {
      directory,
      sessions: new Set(),
      visits: new Map(),
      seen: undefined,
      lookedAt: Number.NEGATIVE_INFINITY,
      usedAt: clock.monotonic(),
      isDirty: true,
      unwatched: [],
      perSession: false,
      looking: undefined,
      watches: new Map(),
    }
    tracked.set(directory, workspace)
    sweep ??= clock.setTimeout(sweepIdle, LIMITS.plugins.idleTeardown)
    return workspace
  }

  /**
   * Directories appear and disappear: whatever is not watched is tried again at the next look. What is watched stays
   * watched, because what happened between two subscriptions would be told by neither.
   */
  async function watch(workspace: Tracked): Promise<void> {
    const { watches } = workspace
    const unwatched: { readonly root: string; readonly exists: boolean }[] = []
    for (const root of [paths.config, join(workspace.directory, '.svc/plugins')]) {
      if (watches.has(root)) continue
      const exists = (await files.stat(root)) !== undefined
      const end = await files.watch(root, (changed) => {
        if (changed.includes(root)) unwatch(workspace, root) // perhaps its last word
        touched(workspace)
      })
      if (end === undefined) unwatched.push({ root, exists })
      else if (stopped || tracked.get(workspace.directory) !== workspace) end()
      else watches.set(root, end)
    }
    workspace.unwatched = unwatched
  }

  function unwatch(workspace: Tracked, root: string): void {
    workspace.watches.get(root)?.()
    if (workspace.watches.delete(root)) workspace.unwatched = [...workspace.unwatched, { root, exists: true }]
  }

  function touched(workspace: Tracked): void {
    if (workspace.isDirty) return
    workspace.isDirty = true
    clock.setTimeout(() => {
      if (!stopped && workspace.isDirty && tracked.get(workspace.directory) === workspace) void lookAt(workspace)
    }, DEBOUNCE)
  }

  /** I1. Never rejects. */
  function lookAt(workspace: Tracked): Promise<void> {
    if (workspace.looking !== undefined) {
      workspace.isDirty = true
      return workspace.looking
    }
    const work = async () => {
      try {
        do {
          if (workspace.seen === undefined || workspace.unwatched.length > 0) await watch(workspace)
          workspace.isDirty = false
          const snapshot = await snapshots.get(workspace.directory, { fresh: true })
          workspace.seen = snapshot
          workspace.perSession = (await look(workspace, snapshot)).perSession
        } while (workspace.isDirty && !stopped)
      } catch (error) {
        log.warn('the plugins of a workspace could not be looked at', { directory: workspace.directory, cause: String(error) })
        workspace.isDirty = false
        clock.setTimeout(() => touched(workspace), LIMITS.plugins.recheck)
      } finally {
        workspace.lookedAt = clock.monotonic()
        workspace.looking = undefined
      }
    }
    workspace.looking = work()
    return workspace.looking
  }

  /** I2. */
  async function isDue(workspace: Tracked): Promise<boolean> {
    if (workspace.isDirty) return true
    const age = clock.monotonic() - workspace.lookedAt
    if (age > (workspace.unwatched.some(({ exists }) => exists) ? LIMITS.plugins.recheck : RELOOK)) return true
    for (const { root } of workspace.unwatched) if ((await files.stat(root)) !== undefined) return true
    return (await snapshots.get(workspace.directory).catch(() => workspace.seen)) !== workspace.seen
  }

  function sweepIdle(): void {
    sweep = undefined
    const now = clock.monotonic()
    for (const [directory, workspace] of tracked) {
      const { sessions, visits, looking, usedAt } = workspace
      for (const [sessionId, visitedAt] of visits) {
        if (now - visitedAt < LIMITS.plugins.idleTeardown) continue
        visits.delete(sessionId)
        sessions.delete(sessionId)
        onIdle(directory, sessionId)
      }
      if (sessions.size > 0 || looking !== undefined || now - usedAt < LIMITS.plugins.idleTeardown) continue
      tracked.delete(directory)
      for (const end of workspace.watches.values()) end()
      onIdle(directory)
    }
    if (tracked.size > 0 && !stopped) sweep = clock.setTimeout(sweepIdle, LIMITS.plugins.idleTeardown)
  }

  return {
    async use(directory, session) {
      const workspace = track(directory)
      const { sessions, visits } = workspace
      workspace.usedAt = clock.monotonic()
      const isNewcomer = session !== undefined && !sessions.has(session.sessionId)
      if (session !== undefined) {
        const { sessionId, isVisit } = session
        if (!isVisit) visits.delete(sessionId)
        else if (isNewcomer || visits.has(sessionId)) visits.set(sessionId, workspace.usedAt)
        sessions.add(sessionId)
      }
      if (!(isNewcomer && workspace.perSession) && !(await isDue(workspace))) return
      await waitAtMost(clock, lookAt(workspace), PATIENCE)
    },
    async refresh(directory) {
      const workspace = track(directory)
      workspace.usedAt = clock.monotonic()
      workspace.isDirty = true
      await workspace.looking
      await snapshots.get(directory, { fresh: true }).catch(() => undefined)
      await lookAt(workspace)
    },
    sessionEnded(sessionId) {
      for (const { directory, sessions, visits } of tracked.values()) {
        visits.delete(sessionId)
        if (sessions.delete(sessionId)) return directory
      }
      return undefined
    },
    refreshAll() {
      for (const workspace of tracked.values()) touched(workspace)
    },
    stop() {
      stopped = true
      if (sweep !== undefined) clock.clearTimeout(sweep)
      for (const workspace of tracked.values()) for (const end of workspace.watches.values()) end()
      tracked.clear()
    },
  }
}
