/**
 * What a delegated session may do is never more than what the one that delegated to it may (sessions-events §8.12): its rules are
 * judged beside those of every session above, and the strictest counts.
 */
import type { PermissionLayers } from '../../../machines/permission/permission.js'
import type { Floor } from '../../../machines/permission/floor.js'
import type { PermissionRule } from '../../../protocol/interaction/interaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView } from '../../../ports/facades.js'
import { agentOf } from '../state/plan-mode.js'
import type { Rows, Sources } from '../state/core.js'
import { isOfOwner } from '../../tenancy/hosted-session.js'
import { isRecord } from '../../../protocol/text/json.js'

const MOST = 16

/** Of a run that delegated: as whom. */
interface Delegator {
  /** Its agent. */
  readonly agent: string
  /** Tools its prompt left out. */
  readonly refused: readonly string[]
}

/** On the record of a session that was delegated to. */
interface Delegation extends Delegator {
  /** Runs that gave it more to do, of sessions above. */
  readonly resumed: readonly (Delegator & { readonly sessionId: string })[]
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
    ceilings.push(await layersAs(core, parent, delegation))
    for (const { sessionId, ...delegator } of delegation.resumed) {
      const above = core.store.sessions.get(sessionId)
      if (above !== undefined) ceilings.push(await layersAs(core, above, delegator))
    }
    below = parent
  }
  return ceilings
}

/** Other directories whose configuration its ceilings are made of. */
export function directoriesAbove({ store }: Pick<Rows, 'store'>, session: Session): readonly string[] {
  const directories = new Set<string>()
  let below = session
  for (let depth = 0; depth < MOST; depth++) {
    const delegation = delegationOf(below)
    const parent = below.parentId === undefined ? undefined : store.sessions.get(below.parentId)
    if (delegation === undefined || parent === undefined) break
    directories.add(parent.directory)
    for (const { sessionId } of delegation.resumed) directories.add(store.sessions.get(sessionId)?.directory ?? parent.directory)
    below = parent
  }
  directories.delete(session.directory)
  return [...directories]
}

/** What stands in rows of the rules of a session: its own, and those of the sessions that its ceilings are made of. Another text, other rules. */
export function standingRules({ store }: Pick<Rows, 'store'>, session: Session): string {
  let rules = rulesIn(session)
  let below = session
  for (let depth = 0; depth < MOST && below.delegation !== undefined && below.parentId !== undefined; depth++) {
    const above = store.sessions.get(below.parentId)
    if (above === undefined) break
    rules += rulesIn(above)
    below = above
  }
  return rules
}

/** Of a row as it was read: every judgement asks. */
const texts = new WeakMap<Session, string>()

function rulesIn(session: Session): string {
  const known = texts.get(session)
  if (known !== undefined) return known
  const text = JSON.stringify([session.permission, session.delegation, session.executionPolicy, session.directoryPrefixes])
  texts.set(session, text)
  return text
}

async function layersAs(core: Pick<Sources, 'resources'>, session: Session, { agent: name, refused }: Delegator) {
  const { resources } = core
  const agent = await resources.agent(session.directory, name, session.id).catch(async () => {
    const own = await agentOf(core, session)
    return own === undefined ? resources.defaultAgent(session.directory, session.id) : resources.agent(session.directory, own, session.id)
  })
  return layersFor(session, agent, refused)
}

/** Layers of a session that runs as an agent, without some tools; the rules of a workflow are those of its file. */
export function layersFor(session: Ruled, agent: AgentView, tools: readonly string[]): PermissionLayers {
  const { permission = [], workflowRunID, workflowAccepted } = session
  const refused = tools.map((tool): PermissionRule => ({ permission: tool, pattern: '*', action: 'deny' }))
  const { rules, narrowing, ceiling } = agent
  const floor = floorOf(session)
  const above = { ...(ceiling && { ceilings: [{ trusted: ceiling, untrusted: [] }] }), ...(floor && { floor }) }
  if (workflowRunID === undefined) return { trusted: [...rules, ...permission, ...refused], untrusted: narrowing, ...above }
  const workflow = { rules: permission, isAccepted: workflowAccepted === true }
  return { trusted: [...rules, ...refused], untrusted: narrowing, workflow, ...above }
}

/** What of a session its rules are made of. */
type Ruled = Partial<
  Pick<Session, 'permission' | 'workflowRunID' | 'workflowAccepted' | 'executionPolicy' | 'directory' | 'directoryPrefixes'>
>

/** Of the session of a hosted caller: its directory, as long as that lies in what its owner may use. */
function floorOf(session: Ruled): Floor | undefined {
  const { executionPolicy, directory = '' } = session
  if (executionPolicy === undefined) return undefined
  return { roots: isOfOwner(session, directory) ? [directory] : [], isConfined: executionPolicy !== 'native' }
}

function delegationOf({ delegation }: Session): Delegation | undefined {
  const delegator = delegatorOf(delegation)
  if (delegator === undefined || !isRecord(delegation)) return undefined
  const { resumed } = delegation
  const later = Array.isArray(resumed) ? resumed : []
  return {
    ...delegator,
    resumed: later.flatMap((each: unknown) => {
      const known = delegatorOf(each)
      const sessionId = isRecord(each) ? each['sessionId'] : undefined
      return known === undefined || typeof sessionId !== 'string' ? [] : [{ ...known, sessionId }]
    }),
  }
}

function delegatorOf(value: unknown): Delegator | undefined {
  if (!isRecord(value) || typeof value['agent'] !== 'string') return undefined
  const { agent, refused } = value
  return { agent, refused: Array.isArray(refused) ? refused.filter((each) => typeof each === 'string') : [] }
}
