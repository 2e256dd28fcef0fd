/** Sessions that an agent of others answers, and the rules it works under: those of the agent that answers by default (subsystems l.4). */
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView } from '../../../ports/facades.js'
import type { Sources } from './core.js'

const views = new WeakMap<AgentView, Map<string, AgentView>>()

/** The same view for as long as that of the default agent is the same. */
export async function externalAgent({ resources }: Pick<Sources, 'resources'>, directory: string, name: string): Promise<AgentView> {
  const base = await resources.defaultAgent(directory)
  const known = views.get(base) ?? new Map<string, AgentView>()
  views.set(base, known)
  const { steps: _steps, model: _model, prompt: _prompt, ...record } = base.record
  const view = known.get(name) ?? { ...base, record: { ...record, name } }
  known.set(name, view)
  return view
}

export function isExternal({ externalAgent }: Pick<Session, 'externalAgent'>): boolean {
  return externalAgent !== undefined
}

/** Throws `request.unprocessable`, with `what` the session cannot have. */
export function refuseExternal(session: Session, what: string): void {
  if (session.externalAgent === undefined) return
  const { provider } = session.externalAgent
  throw new SvcError('request.unprocessable', `The agent "${provider}" answers this session and keeps its conversation itself: ${what}.`, {
    sessionId: session.id,
    provider,
  })
}
