/**
 * What a delegated session may do is never more than what the one that delegated to it may (sessions-events §8.12): its rules are
 * judged beside those of every session above, and the strictest counts.
 */
import type { PermissionLayers } from '../../../machines/permission/permission.js'
import type { PermissionRule } from '../../../protocol/interaction/interaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView } from '../../../ports/facades.js'
import { agentOf } from '../state/plan-mode.js'
import type { Rows, Sources } from '../state/core.js'

const MOST = 16

/** On the record of a session that was delegated to: as whom. */
interface Delegation {
  /** Agent of the run that delegated. */
  readonly agent: string
  /** Tools its prompt left out. */
  readonly refused: readonly string[]
}

/** Rules of each session above, nearest first; none for a session nobody delegated to. */
export async function ceilingsOf(
  core: Pick<Rows & Sources, 'store' | 'resources'>,
  session: Session,
): Promise<readonly PermissionLayers[]> {
  const ceilings: PermissionLayers[] = []
  let below = session
  for (let depth = 0; depth < MOST; depth++) {
    const delegation = delegationOf(below)
    const parent = below.parentId === undefined ? undefined : core.store.sessions.get(below.parentId)
    if (delegation === undefined || parent === undefined) return ceilings
    const agent = await core.resources.agent(parent.directory, delegation.agent).catch(async () => {
      const name = await agentOf(core, parent)
      return name === undefined ? core.resources.defaultAgent(parent.directory) : core.resources.agent(parent.directory, name)
    })
    ceilings.push(layersFor(parent, agent, delegation.refused))
    below = parent
  }
  return ceilings
}

/** Layers of a session that runs as an agent, without some tools; the rules of a workflow are those of its file. */
export function layersFor(
  { permission = [], workflowRunID, workflowAccepted }: Session,
  agent: AgentView,
  tools: readonly string[],
): PermissionLayers {
  const refused = tools.map((tool): PermissionRule => ({ permission: tool, pattern: '*', action: 'deny' }))
  const { rules, narrowing, ceiling } = agent
  const above = ceiling && { ceilings: [{ trusted: ceiling, untrusted: [] }] }
  if (workflowRunID === undefined) return { trusted: [...rules, ...permission, ...refused], untrusted: narrowing, ...above }
  const workflow = { rules: permission, isAccepted: workflowAccepted === true }
  return { trusted: [...rules, ...refused], untrusted: narrowing, workflow, ...above }
}

function delegationOf({ delegation }: Session): Delegation | undefined {
  if (typeof delegation !== 'object' || delegation === null || !('agent' in delegation) || typeof delegation.agent !== 'string')
    return undefined
  const refused =
    'refused' in delegation && Array.isArray(delegation.refused) ? delegation.refused.filter((each) => typeof each === 'string') : []
  return { agent: delegation.agent, refused }
}
