/** Who answers a prompt: an agent of ours with a model, or an agent of others (sessions-events §4.8; subsystems l.4). */
import { SvcError } from '../../../protocol/errors.js'
import { EXECUTION_OFF } from '../../../protocol/session/execution-policy.js'
import { EXTERNAL } from '../../../protocol/session/external-provider.js'
import type { ModelRef, UserModel } from '../../../protocol/message/message.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView, ResolvedModel } from '../../../ports/facades.js'
import { sessionOrThrow, type Rows, type Sources } from '../state/core.js'
import { externalAgent, isExternal } from '../state/external-agent.js'
import { isOfOwner } from '../../tenancy/hosted-session.js'
import { agentOf } from '../state/plan-mode.js'
import { knownAgent } from '../state/records.js'

/** Who answers a prompt, and with which model. */
export interface RunTarget {
  readonly agent: AgentView
  readonly model: ResolvedModel
  /** Why neither can answer (`unanswerableTarget`); absent = they can. */
  readonly obstacle?: Error
}

/** What of a prompt says who answers it. */
type Asking = Pick<QueuedPrompt, 'agent' | 'model'> & Partial<Pick<QueuedPrompt, 'parts'>>

/** Agent: prompt, session, default. Model: prompt, session, agent, default. Throws `request.invalid` for what is unknown. */
export async function resolveTarget(core: Rows & Sources, sessionId: string, prompt: Asking): Promise<RunTarget> {
  const session = sessionOrThrow(core, sessionId)
  await refuseBeyond(core, session)
  if (isExternal(session)) return externalTarget(core, session, prompt)
  const { directory, workspaceId } = session
  const name = prompt.agent ?? (await agentOf(core, session))
  const agent =
    name === undefined ? await core.resources.defaultAgent(directory, sessionId) : await knownAgent(core, directory, name, sessionId)
  const ref =
    modelOf(prompt.model) ?? session.model ?? agent.record.model ?? (await core.providers.defaultModel(directory, workspaceId, sessionId))
  if (ref.providerId === EXTERNAL)
    throw new SvcError(
      'request.invalid',
      'An external agent answers the sessions that were made for it ("externalProvider"), and no others.',
    )
  return { agent, model: await core.providers.resolve(directory, ref, workspaceId, sessionId) }
}

/**
 * Of a stranger's session: what goes on by itself, a goal or a task, ends where execution was switched off; and what is read around it,
 * instructions and configuration, reaches as far as its repository.
 */
async function refuseBeyond({ projects, hosting }: Sources, session: Session): Promise<void> {
  if (session.executionPolicy === undefined) return
  if ((await hosting.policy()) === 'disabled') throw new SvcError('feature.not_implemented', EXECUTION_OFF)
  const { worktree } = await projects.identify(session.directory)
  if (worktree !== undefined && !isOfOwner(session, worktree))
    throw new SvcError(
      'feature.not_implemented',
      'The directory lies in a repository that reaches beyond what you may use: nothing is executed there.',
    )
}

/** What a subagent of an external agent did is shown in a session that is prompted once, by the turn it is part of. Throws `request.unprocessable`. */
export function refuseNested(core: Rows, sessionId: string): void {
  const { externalAgent } = sessionOrThrow(core, sessionId)
  if (externalAgent?.nested !== true) return
  if (core.store.queue.size(sessionId) === 0 && core.transcripts.of(sessionId).length === 0) return
  throw new SvcError(
    'request.unprocessable',
    `A subagent of the agent "${externalAgent.provider}" worked in this session, and takes no prompt: prompt the session it is part of.`,
    { sessionId },
  )
}

export function modelOf(model: UserModel | undefined): ModelRef | undefined {
  if (model === undefined) return undefined
  const { modelId: id, ...rest } = model
  return { ...rest, id }
}

/** It was fixed when the session was made. */
async function externalTarget(core: Sources, session: Session, { agent, model, parts = [] }: Asking): Promise<RunTarget> {
  const { directory, externalAgent: external } = session
  const id = external?.provider ?? ''
  if ((agent ?? id) !== id || (model !== undefined && (model.providerId !== EXTERNAL || model.modelId !== id)))
    throw new SvcError('request.invalid', `The agent "${id}" answers this session, for good: a prompt names no other agent and no model.`)
  if (parts.some(({ type }) => type !== 'text'))
    throw new SvcError('request.invalid', `The agent "${id}" is prompted with text: name files in it, and they are read where they lie.`)
  return { agent: await externalAgent(core, directory, id), model: await core.providers.resolve(directory, { providerId: EXTERNAL, id }) }
}
