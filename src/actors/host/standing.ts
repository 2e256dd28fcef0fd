/** By which rules a session would be judged now, and as which agent. */
import type { PermissionLayers } from '../../machines/permission/permission.js'
import type { BrokerPlace } from '../../ports/broker-doors.js'
import type { AgentView } from '../../ports/facades.js'
import type { Session } from '../../protocol/session/session.js'
import { ceilingsOf, layersFor } from '../session/run/ceilings.js'
import type { Rows, Sources } from '../session/state/core.js'
import { agentOf } from '../session/state/plan-mode.js'

const NO_RULES: Pick<Session, 'permission' | 'workflowRunID' | 'workflowAccepted'> = {}

export interface Standing {
  readonly agent: AgentView
  readonly layers: PermissionLayers
}

/** Of a session as its agent would be judged now; without one, of the default agent of the directory. `named`: of this agent, which is there. */
export async function standingOf(
  core: Pick<Rows, 'store'> & Pick<Sources, 'resources'>,
  { directory, sessionId }: BrokerPlace,
  named?: string,
): Promise<Standing> {
  const session = sessionId === undefined ? undefined : core.store.sessions.get(sessionId)
  const usual = () => core.resources.defaultAgent(directory, sessionId)
  if (named !== undefined || session === undefined) {
    const agent = named === undefined ? await usual() : await core.resources.agent(directory, named, sessionId)
    const own = layersFor(session ?? NO_RULES, agent, [])
    return { agent, layers: session === undefined ? own : await below(session, own) }
  }
  const name = await agentOf(core, session)
  const agent = name === undefined ? await usual() : await core.resources.agent(directory, name, sessionId).catch(usual)
  return { agent, layers: await below(session, layersFor(session, agent, [])) }

  async function below(of: Session, own: PermissionLayers): Promise<PermissionLayers> {
    return { ...own, ceilings: [...(own.ceilings ?? []), ...(await ceilingsOf(core, of))] }
  }
}
