/** The `Sessions` facade: one call per route, each a read or one commit followed by a wake (laws §4). */
import { createPassing } from '../../kernel/passing.js'
import { waitAtMost } from '../../kernel/patience.js'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { AbortRequest } from '../../protocol/message/message.js'
import type { InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Sessions } from '../../ports/facades.js'
import { exportSessions } from './bundles/export.js'
import { importSession } from './bundles/import.js'
import { answerTo, namedCommand, submitCommand, submitShell } from './admission/commands.js'
import { rootOf, sessionOrThrow, type Rows, type Work, type Sources } from './state/core.js'
import { ownedBy } from '../tenancy/owners.js'
import { compactionEnd, type Compactions, createCompactions } from './compaction/compactions.js'
import { refuseExternal } from './state/external-agent.js'
import { forkSession } from './history/fork.js'
import { deleteMessage, deletePart, getMessage, messageList, messagePage, replacePart } from './history/history.js'
import { createUndo } from './history/undo.js'
import { releaseQueue } from './admission/held.js'
import { submitPrompt } from './admission/prompts.js'
import { clearQueue, popQueue, queueInfo, stopQueue } from './admission/queue.js'
import { deleteFamily, partedFamily } from './state/deletion.js'
import { createSession, familyActivities, listSessions, pinSession, updateSession } from './state/records.js'
import { claimControl, controlOf, refuseControlled, refuseAnyControlled, releaseControl } from './admission/sharing.js'
import { createEarlyClaims, type EarlyClaims } from './run/claimed-early.js'
import type { Runs } from './run/run.actor.js'
import { sessionLogic } from './session.actor.js'
import { type SessionSupervisor, superviseSessions } from './supervisor.js'
import { createSystemContext } from './run/system-context.js'

const ABORT_WAIT = LIMITS.run.abort + 100
const DELETE_ROUNDS = 5
const DIRECTORY_OPTIONS = 100

/** Directories as clients name them. */
interface SessionDirectories {
  canonical(path: string, base: string): Promise<string>
  complete(caller: Caller, text: string, base: string, limit: number): Promise<string[]>
}

export interface SessionSystem {
  readonly facade: Sessions
  readonly supervisor: SessionSupervisor
}

/** What the facade asks. */
interface Served {
  readonly core: Rows & Work & Sources
  readonly directories: SessionDirectories
  readonly compactions: Compactions
  readonly supervisor: SessionSupervisor
  readonly claims: EarlyClaims
}

export function createSessions(
  core: Rows & Work & Sources,
  directories: SessionDirectories,
  watching: {
    readonly inspect?: ((event: InspectionEvent) => void) | undefined
    readonly actors?: ActorRegistry
    readonly isOff?: boolean
  } = {},
): SessionSystem {
  const context = createSystemContext(core)
  const runs: Runs = createPassing()
  const compactions = createCompactions(core, runs)
  const claims = createEarlyClaims(core, context, { isCompacting: (sessionId) => compactions.waiting(sessionId) !== undefined })
  const supervisor = superviseSessions({
    effects: core.effects,
    logic: sessionLogic(core, context, { runs, compactions, claims }),
    isOff: watching.isOff === true,
    onAsleep(sessionId) {
      core.transcripts.forget(sessionId)
      context.forget(sessionId)
      compactions.forget(sessionId)
      core.plugins.sessionEnded(sessionId)
    },
    ...(watching.inspect !== undefined && { inspect: watching.inspect }),
    ...(watching.actors !== undefined && { actors: watching.actors }),
  })
  const served: Served = { core, directories, compactions, supervisor, claims }
  return { facade: { ...kept(served), ...said(served), ...told(served) }, supervisor }
}

/** Sessions as records: made, found, changed, shared and deleted. */
function kept(served: Served) {
  const { core, directories } = served
  const get = (id: string) => sessionOrThrow(core, id)
  return {
    create: (caller, directory, request) => createSession(core, caller, directory, request),
    list: (caller, query) => listSessions(core, caller, query),
    get,
    update: (caller, id, request) =>
      updateSession(core, id, request, async (path, base) => {
        const directory = await directories.canonical(path, base)
        if (!mayUseDirectory(caller, directory)) throw new SvcError('auth.directory_forbidden')
        return directory
      }),
    delete: (caller, id, options) => deleteSession(served, caller, id, options),
    children(id) {
      get(id)
      const activities = familyActivities(core)
      const items = core.store.sessions.children(id).map((child) => ({ ...child, catalogActivity: activities(rootOf(core, child.id)) }))
      return { items, cursor: {} }
    },
    pin: (id, pinned) => pinSession(core, id, pinned),
    fork: (id, request, caller) => forkSession(core, id, request, caller),
    export: (caller, request) => exportSessions(core, caller, request),
    import: (caller, chunks, admit) => importSession(core, caller, { chunks, admit }),
    directoryOptions: async (caller, id, { query = '', limit = DIRECTORY_OPTIONS }) =>
      directories.complete(caller, query, get(id).directory, limit),
    participants: (id) => core.store.sharing.participants(get(id).id),
    control: (id) => controlOf(core, get(id).id),
    expectControl: (caller, id) => refuseControlled(core, caller, id),
    claimControl: (caller, id, request) => claimControl(core, caller, id, request),
    releaseControl: (caller, id, expectedRevision) => releaseControl(core, caller, id, expectedRevision),
    owner(id) {
      const session = core.store.sessions.get(id)
      return session === undefined ? undefined : ownedBy(session, core.store.sessions.get)
    },
  } satisfies Partial<Sessions>
}

/** What a session is asked to do, what waits for it, and what is done to its run. */
function said(served: Served) {
  const { core, compactions, supervisor, claims } = served
  const get = (id: string) => sessionOrThrow(core, id)
  const waking = (id: string) => () => supervisor.wake(id)
  return {
    async submitPrompt(caller, id, request, mode) {
      refuseControlled(core, caller, id)
      const command = await namedCommand(core, get(id).id, request)
      const delivery = mode === 'prompt-async' || command !== undefined ? 'queue' : (request.delivery ?? 'steer')
      await submitPrompt(core, caller, id, command ?? request, delivery, {
        wake() {
          if (supervisor.restsAlone(id) && claims.prepare(id)) supervisor.wakeSoon(id)
          else supervisor.wake(id)
        },
        early: async (prompt, target) => (supervisor.rests(id) ? claims.look(id, prompt, target) : undefined),
      })
    },
    async runCommand(caller, id, request, signal) {
      refuseControlled(core, caller, id)
      return answerTo(core, id, await submitCommand(core, caller, id, request, waking(id)), signal)
    },
    async runShell(caller, id, request, signal) {
      refuseControlled(core, caller, id)
      return answerTo(core, id, await submitShell(core, caller, id, request, waking(id)), signal)
    },
    abort: (id, how) => abort(served, id, how),
    async compact(id, signal) {
      refuseExternal(get(id), 'there is nothing to compact')
      const runId = compactions.request(id)
      supervisor.wake(id)
      await core.statuses.runEnded(id, runId, signal)
      compactionEnd(core, id, runId)
    },
    async wait(id, signal) {
      get(id)
      await core.statuses.idle(id, signal)
    },
    queue: (id) => queueInfo(core, get(id).id),
    clearQueue: (id) => clearQueue(core, get(id).id),
    popQueue: (id, messageId) => popQueue(core, get(id).id, messageId),
    releaseQueue: (caller, id, messageId) => releaseQueue(core, caller, { sessionId: id, messageId }, waking(id)),
  } satisfies Partial<Sessions>
}

/** What was said and done in a session, taken back, and how it stands. */
function told({ core }: Served) {
  const get = (id: string) => sessionOrThrow(core, id)
  return {
    status(caller) {
      const visible = [...core.statuses.all()].filter(([id]) => core.owners.mayUse(caller, id))
      return Object.fromEntries(visible)
    },
    runtime: (id) => core.executions.runtime(rootOf(core, get(id).id)),
    todos: (id) => core.store.todos.get(get(id).id),
    ...createUndo(core),
    context: (id) => messageList(core, id),
    messages: (id, query) => messagePage(core, id, query),
    message: (id, messageId) => getMessage(core, get(id).id, messageId),
    deleteMessage: (id, messageId) => deleteMessage(core, get(id).id, messageId),
    updatePart: (id, messageId, partId, part) => replacePart(core, get(id).id, messageId, partId, part),
    deletePart: (id, messageId, partId) => deletePart(core, get(id).id, messageId, partId),
  } satisfies Partial<Sessions>
}

type Working = Pick<Served, 'core' | 'supervisor'>

/** Ends the active run; answers within `ABORT_WAIT`, also while the end cannot be recorded. The queue first: no run takes of it in between. */
async function abort({ core, supervisor }: Working, id: string, { queue = 'go-on', runId }: AbortRequest = {}): Promise<boolean> {
  sessionOrThrow(core, id)
  const run = core.statuses.run(id)
  if (runId !== undefined && run?.runId !== runId) return false
  const active = !core.statuses.isIdle(id)
  stopQueue(core, id, queue)
  supervisor.abort(id)
  if (run !== undefined) await waitFor(core, () => core.statuses.runEnded(id, run.runId))
  return active
}

async function waitFor({ effects }: Pick<Rows, 'effects'>, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const limit = new AbortController()
  await waitAtMost(
    effects.clock,
    work(limit.signal).catch(() => undefined),
    ABORT_WAIT,
  )
  limit.abort()
}

async function deleteSession(working: Working, caller: Caller, id: string, { keepsForks = false } = {}): Promise<true> {
  const { core, supervisor } = working
  const leaving = () => partedFamily(core, sessionOrThrow(core, id).id, keepsForks).leaving
  refuseAnyControlled(core, caller, leaving())
  await quiesce(working, id, leaving)
  await Promise.all(leaving().map((member) => core.restores.settled(member)))
  // Somebody may have claimed one of them meanwhile.
  refuseAnyControlled(core, caller, leaving())
  for (const member of deleteFamily(core, id, keepsForks)) supervisor.end(member)
  return true
}

/** Prompts that arrive meanwhile are removed as well; what still runs after some rounds is a conflict. */
async function quiesce(working: Working, id: string, family: () => readonly string[]): Promise<void> {
  const { core } = working
  for (let round = 0; round < DELETE_ROUNDS; round++) {
    const members = family()
    for (const member of members) clearQueue(core, member, 'all')
    await Promise.all(members.map((member) => abort(working, member)))
    await waitFor(core, (signal) => Promise.all(members.map((member) => core.statuses.idle(member, signal))))
    if (family().every((member) => core.statuses.isIdle(member))) return
  }
  throw new SvcError('resource.conflict', 'The session is still running; try again when it is idle.', { sessionId: id })
}
