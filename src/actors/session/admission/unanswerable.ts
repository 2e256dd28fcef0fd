/**
 * A prompt that was accepted and that nobody can answer when its turn comes: its model, its agent or a key has gone. It becomes a run that
 * fails in its first step, so that what was asked, and why it was not answered, stand in the conversation (sessions-events §4.4, §13.4).
 */
import type { Agent } from '../../../protocol/resource/resource.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import { makeModel } from '../../provider/catalog/models.js'
import type { Sources } from '../state/core.js'
import { modelOf, type RunTarget } from './target.js'

const UNKNOWN = { mode: 'primary', native: false, hidden: true, permission: {}, options: {} }
const NOBODY = { npm: '', auth: 'none', baseURL: undefined, compatibility: { streamUsage: false, reasoningEffort: false } } as const

/** Who was to answer, by name; `cause` is why they cannot. */
export async function unanswerableTarget(core: Sources, session: Session, prompt: QueuedPrompt, cause: unknown): Promise<RunTarget> {
  const obstacle = cause instanceof Error ? cause : new Error(String(cause))
  const ref = modelOf(prompt.model) ?? session.model ?? (await defaultModel(core, session))
  const name = prompt.agent ?? session.agent ?? (await defaultAgent(core, session))
  const adapter = { generate: () => Promise.reject(obstacle) }
  return {
    agent: { record: { ...UNKNOWN, name } satisfies Agent, rules: [], narrowing: [] },
    model: { ref, model: makeModel({ ...NOBODY, id: ref.providerId }, ref.id, {}).record, adapter, options: {} },
    obstacle,
  }
}

async function defaultModel({ providers }: Sources, { id, directory, workspaceId }: Session): Promise<ModelRef> {
  return providers.defaultModel(directory, workspaceId, id).catch(() => ({ providerId: 'svc', id: 'offline' }))
}

async function defaultAgent({ resources }: Sources, { id, directory }: Session): Promise<string> {
  const found = await resources.defaultAgent(directory, id).catch(() => undefined)
  return found?.record.name ?? 'build'
}
