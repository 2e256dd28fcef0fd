/**
 * What a delegated session may do is never more than what the one that delegated to it may (sessions-events §8.12): its rules are
 * judged beside those of every session above, and the strictest counts.
 */
import type { PermissionLayers } from '../../../machines/permission/permission.js'
import type { Floor } from '../../../machines/permission/floor.js'
import type { PermissionRule } from '../../../protocol/interaction/interaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView } from '../../../ports/facades.js'
import { type Delegator, delegationOf, type Resumption, type Ruling } from '../state/delegation.js'
import { agentOf } from '../state/plan-mode.js'
import type { Rows, Sources } from '../state/core.js'
import { isOfOwner } from '../../tenancy/hosted-session.js'

const MOST = 16

/** Of somebody of whom nothing is known any more. */
const NOTHING: PermissionLayers = { trusted: [{ permission: '*', pattern: '*', action: 'deny' }], untrusted: [] }

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
    for (const resumption of delegation.resumed) ceilings.push(await layersOfResumer(core, resumption))
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
    for (const { sessionId, ruling = parent } of delegation.resumed)
      directories.add(store.sessions.get(sessionId)?.directory ?? ruling.directory)
    below = parent
  }
  directories.delete(session.directory)
  return [...directories]
}

/** What stands in rows of the rules of a session: its own, and those of the sessions that its ceilings are made of. Another text, other rules. */
export function standingRules({ store }: Pick<Rows, 'store'>, session: Session): string {
  let rules = rulesIn(session)
  let below = session
  for (let depth = 0; depth < MOST; depth++) {
    const delegation = delegationOf(below)
    const above = below.parentId === undefined ? undefined : store.sessions.get(below.parentId)
    if (delegation === undefined || above === undefined) break
    const resumers = delegation.resumed.flatMap(({ sessionId }) => store.sessions.get(sessionId) ?? [])
    rules += [above, ...resumers].map(rulesIn).join('')
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

async function layersOfResumer(core: Pick<Rows & Sources, 'store' | 'resources'>, { sessionId, ruling, ...delegator }: Resumption) {
  const session = core.store.sessions.get(sessionId)
  if (session !== undefined) return layersAs(core, session, delegator)
  if (ruling === undefined) return NOTHING
  const agent = await core.resources.agent(ruling.directory, delegator.agent).catch(() => undefined)
  return agent === undefined ? NOTHING : layersFor(ruling, agent, delegator.refused)
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
export function layersFor(session: Partial<Ruling>, agent: AgentView, tools: readonly string[]): PermissionLayers {
  const { permission = [], workflowRunID, workflowAccepted } = session
  const refused = tools.map((tool): PermissionRule => ({ permission: tool, pattern: '*', action: 'deny' }))
  const { rules, narrowing, ceiling } = agent
  const floor = floorOf(session)
  const above = { ...(ceiling && { ceilings: [{ trusted: ceiling, untrusted: [] }] }), ...(floor && { floor }) }
  if (workflowRunID === undefined) return { trusted: [...rules, ...permission, ...refused], untrusted: narrowing, ...above }
  const workflow = { rules: permission, isAccepted: workflowAccepted === true }
  return { trusted: [...rules, ...refused], untrusted: narrowing, workflow, ...above }
}

/** Of the session of a hosted caller: its directory, as long as that lies in what its owner may use. */
function floorOf(session: Partial<Ruling>): Floor | undefined {
  const { executionPolicy, directory = '' } = session
  if (executionPolicy === undefined) return undefined
  return { roots: isOfOwner(session, directory) ? [directory] : [], isConfined: executionPolicy !== 'native' }
}
