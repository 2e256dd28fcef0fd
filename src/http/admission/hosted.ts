/**
 * What a hosted caller, a stranger to this installation, may ask for (subsystems d.6; decisions 36, 42): what is listed here, and of that
 * only what its tenant and its directories allow. Everything else configures the installation, leads to its credentials, loads code of
 * plugins or starts programs beside those of its owner.
 *
 * I1 An operation is known by the id of its contract. What plugins contribute has none, and is not for such callers.
 * I2 An operation of a directory names it: there is none that a stranger could be assumed to mean.
 * I3 What begins, goes on with or takes back the work of an agent is asked for where agents work for strangers (`hosted.execution`), and
 *    else refused in words of its own, whoever asks for what. What that work may do is not judged here: see `src/machines/permission/floor.ts`.
 * I4 A stranger changes sessions that strangers made, under that floor: not one that somebody else of its tenant made without.
 */
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { EXECUTION_OFF, type ExecutionPolicy } from '../../protocol/session/execution-policy.js'
import type { RouteContract } from '../../protocol/route.js'
import type { Capability } from '../../protocol/system/system.js'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

export const OPEN_TO_HOSTED = words(`
  v2.meta.get v2.openapi.get v2.runtime.get v2.capabilities.list v2.audit.list v2.directories.list
  v2.agents.list v2.agents.get v2.commands.list v2.skills.list v2.config.defaults v2.providers.list
  v2.interactions.permissions.list v2.interactions.permissions.get v2.interactions.permissions.reply
  v2.interactions.questions.list v2.interactions.questions.get v2.interactions.questions.reply v2.interactions.questions.reject
  v2.events.subscribe v2.sessionCatalog.subscribe v2.executionActivity.list v2.executionActivity.events
  v2.sessions.list v2.sessions.create v2.sessions.status v2.sessions.get v2.sessions.update v2.sessions.delete v2.sessions.children
  v2.sessions.runtime v2.sessions.todos v2.sessions.pin v2.sessions.fork v2.sessions.participants.list v2.sessions.control.get
  v2.sessions.control.claim v2.sessions.control.release v2.sessions.undoTree v2.sessions.abort v2.sessions.wait v2.sessions.context
  v2.sessions.messages v2.sessions.messages.get v2.sessions.messages.delete v2.sessions.parts.update v2.sessions.parts.delete
  v2.sessions.queue.list v2.sessions.queue.clear v2.sessions.queue.pop v2.sessions.jobs.cancel v2.sessions.export
  v2.artifacts.list v2.artifacts.create v2.artifacts.get v2.artifacts.content v2.artifacts.delete
  v2.subagents.tasks.list v2.subagents.tasks.stop v2.plugins.goals.get v2.plugins.goals.clear v2.plugins.semantic.search
`)

/** I3 */
export const EXECUTING = words(`
  v2.sessions.prompt v2.sessions.promptAsync v2.sessions.commands.execute v2.sessions.shell v2.sessions.compact v2.sessions.summarize
  v2.sessions.queue.release v2.sessions.undo v2.sessions.redo v2.sessions.revert v2.sessions.unrevert v2.plugins.goals.set
`)

const CAPABILITIES = words(
  'svc.sessions svc.events svc.permissions svc.directories svc.agents svc.commands svc.skills svc.artifacts svc.subagents svc.goals',
)

interface Asked {
  readonly directory: string | undefined
  readonly directoryHeader: string | undefined
  readonly scope: string | undefined
  readonly sessionId: string | undefined
}

/** Rejects with what refuses a caller the operation as such, whatever object it names. `contract` undefined: a plugin contributes it. */
export function refuseStrangers(
  contract: Pick<RouteContract, 'id' | 'access'> | undefined,
  caller: Caller,
  asked: Asked,
  policy: () => Promise<ExecutionPolicy>,
): Promise<void> | undefined {
  return caller.hosted !== true || contract?.access.class === 'open' ? undefined : refuseStranger(contract, asked, policy)
}

async function refuseStranger(
  contract: Pick<RouteContract, 'id' | 'access'> | undefined,
  asked: Asked,
  policy: () => Promise<ExecutionPolicy>,
): Promise<void> {
  if (contract !== undefined && EXECUTING.has(contract.id)) {
    if ((await policy()) === 'disabled') throw new SvcError('feature.not_implemented', EXECUTION_OFF)
  } else if (contract === undefined || !OPEN_TO_HOSTED.has(contract.id)) throw new SvcError('auth.hosted_route_forbidden')
  if (asked.scope === 'installation') throw new SvcError('auth.hosted_route_forbidden')
  if (contract.id === 'v2.events.subscribe' && asked.sessionId === undefined) throw new SvcError('auth.session_scope_required')
  if (contract.access.class === 'directory' && asked.directory === undefined && asked.directoryHeader === undefined)
    throw new SvcError('auth.directory_scope_required') // I2
}

/** What a caller is told that the server can do. */
export function capabilitiesFor(caller: Caller, all: readonly Capability[]): Capability[] {
  if (caller.hosted !== true) return [...all]
  return all.map((each) => (CAPABILITIES.has(each.id) ? each : { ...each, enabled: false, reason: 'not for hosted callers' }))
}
