/**
 * Workspaces in use and the packages each of them has (plugin-protocol §3.5).
 *
 * I1 A workspace is looked at once at a time; a change that is told meanwhile leads to one more look.
 * I2 Looks happen when something changed: files (watched, or the last look is `recheck` old) or the configuration.
 * I3 A workspace that nobody used for `idleTeardown` is forgotten, and what ran for it is retired.
 */
import { join } from 'node:path'
import type { Effects } from '../../effects.js'
import type { ConfigSnapshot } from '../../resource/snapshot.js'
import type { Snapshots } from '../../resource/snapshots.js'
import { LIMITS } from '../../../protocol/limits.js'

export interface Workspace {
  readonly directory: string
  /** Sessions that are awake. */
  readonly sessions: ReadonlySet<string>
}

export interface WorkspacesDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log' | 'paths'>
  readonly snapshots: Snapshots
  /** Takes one look and tells the packages; whether there are packages with an instance for each session. */
  look(workspace: Workspace, snapshot: ConfigSnapshot): Promise<{ readonly perSession: boolean }>
  /** Nobody uses the workspace any more. */
  onIdle(directory: string): void
}

export interface Workspaces {
  /** Looks when something may have changed, otherwise answers at once; waits for the look `patience` ms at most. */
  use(directory: string, sessionId?: string): Promise<void>
  /** Looks now, at everything. */
  refresh(directory: string): Promise<void>
  sessionEnded(sessionId: string): string | undefined
  /** Something that every workspace may depend on has changed. */
  refreshAll(): void
  stop(): void
}

interface Tracked extends Workspace {
  readonly sessions: Set<string>
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
      if (!stopped && workspace.isDirty) void lookAt(workspace)
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
      if (workspace.sessions.size > 0 || now - workspace.usedAt < LIMITS.plugins.idleTeardown) continue
      tracked.delete(directory)
      for (const end of workspace.watches.values()) end()
      onIdle(directory)
    }
    if (tracked.size > 0 && !stopped) sweep = clock.setTimeout(sweepIdle, LIMITS.plugins.idleTeardown)
  }

  return {
    async use(directory, sessionId) {
      const workspace = track(directory)
      workspace.usedAt = clock.monotonic()
      const isNewcomer = sessionId !== undefined && !workspace.sessions.has(sessionId)
      if (isNewcomer) workspace.sessions.add(sessionId)
      if (!(isNewcomer && workspace.perSession) && !(await isDue(workspace))) return
      await withinPatience(lookAt(workspace), clock)
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
      for (const workspace of tracked.values()) if (workspace.sessions.delete(sessionId)) return workspace.directory
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

async function withinPatience(work: Promise<void>, clock: Effects['clock']): Promise<void> {
  let timer: unknown
  const patience = new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, PATIENCE)))
  await Promise.race([work, patience])
  clock.clearTimeout(timer)
}
