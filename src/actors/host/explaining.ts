/**
 * What would be decided of a call, and by which rule or answer (choice 40). Nothing is run, asked or remembered.
 *
 * I1 It is judged as a call of a session is: by the needs of the same tool, the same layers and the same answers.
 * I2 A call of a session is judged in its directory, whichever else is named.
 */
import { decidingRule } from '../../machines/permission/deciding-rule.js'
import { isBelow } from '../../machines/permission/floor.js'
import { isApproved, isStricter } from '../../machines/permission/permission.js'
import type { ExplainQuery, Interactions } from '../../ports/interactions.js'
import type { PermissionNeed, ToolContext } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import type { Caller } from '../../protocol/caller.js'
import type { ExplainedNeed } from '../../protocol/interaction/explanation.js'
import type { Approval, PermissionAction } from '../../protocol/interaction/interaction.js'
import { approvalsOf } from '../interaction/approvals.js'
import { rememberedAs } from '../interaction/remembered.js'
import { type Rows, sessionOrThrow, type Sources } from '../session/state/core.js'
import { isUnprompted, UNPROMPTED } from '../session/state/imported.js'
import { type Standing, standingOf } from './standing.js'

type Core = Pick<Rows, 'store' | 'effects'> & Pick<Sources, 'resources' | 'configs' | 'projects' | 'plugins'>

const TOOL = 'bash'

interface Judging extends Standing {
  readonly approvals: readonly Approval[]
  /** What the answers belong to. */
  readonly place: string
  readonly bypass: boolean
  /** Why everything takes an answer of its own. */
  readonly explicit: string | undefined
}

export function createExplaining(core: Core): Pick<Interactions, 'explain'> {
  return {
    async explain(caller, named, query, signal) {
      const directory = query.sessionId === undefined ? named : sessionOrThrow(core, query.sessionId).directory // I2
      const judging = await judgingFor(core, caller, directory, query)
      const wanted = await needsOf(core, directory, query, judging, signal)
      const needs = wanted.map((need) => explained(judging, need))
      const decision = needs.reduce<PermissionAction>((most, each) => (isStricter(each.decision, most) ? each.decision : most), 'allow')
      return { decision, agent: judging.agent.record.name, directory, needs }
    },
  }
}

async function judgingFor(core: Core, caller: Caller, directory: string, { sessionId, agent }: ExplainQuery): Promise<Judging> {
  const { store, configs, projects } = core
  const [standing, { approvals: place }, config] = await Promise.all([
    standingOf(core, { directory, sessionId }, agent),
    projects.identify(directory),
    configs.load(directory),
  ])
  const session = (sessionId === undefined ? undefined : store.sessions.get(sessionId)) ?? { svcTenantId: caller.tenantId }
  return {
    ...standing,
    approvals: approvalsOf(store, { session, approvals: place }),
    place,
    bypass: config['dangerouslySkipPermissions'] === true,
    explicit: sessionId !== undefined && isUnprompted(core, sessionId) ? UNPROMPTED : undefined,
  }
}

/** I1 */
async function needsOf(
  core: Core,
  directory: string,
  { command, permission, pattern = '*', sessionId = '' }: ExplainQuery,
  { agent, layers, approvals, bypass }: Judging,
  signal: AbortSignal,
): Promise<readonly Partial<PermissionNeed>[]> {
  if ((command === undefined) === (permission === undefined))
    throw new SvcError('request.invalid', 'Give either "command", or "permission" with the "pattern" it is asked for.')
  if (permission !== undefined) return [{ permission, patterns: [pattern] }]
  const view = core.plugins.current(directory, sessionId === '' ? undefined : sessionId)
  const tool = view.tools.find(({ contribution, pluginId }) => contribution.id === TOOL && pluginId.startsWith('dev.svc.'))
  if (tool === undefined) throw new SvcError('request.unprocessable', 'The tool for command lines is switched off here.')
  const context: ToolContext = {
    sessionId,
    messageId: '',
    callId: core.effects.ids.next('evt'),
    agent: agent.record.name,
    directory,
    signal,
    ...(layers.floor !== undefined && { bounds: layers.floor }),
    progress: () => undefined,
    decisions: (group, patterns) => patterns.map((each) => decidingRule({ layers, approvals, bypass }, group, each).decision),
  }
  return tool.contribution.needs({ command }, context)
}

function explained(judging: Judging, need: Partial<PermissionNeed>): ExplainedNeed {
  const { permission = '', title, harmless } = need
  const explicit = need.explicit ?? judging.explicit
  const patterns = (need.patterns?.length ? need.patterns : ['*']).map((pattern) =>
    decided(judging, { permission, pattern, explicit, harmless }),
  )
  const decision = patterns.reduce<PermissionAction>((most, each) => (isStricter(each.decision, most) ? each.decision : most), 'allow')
  return { permission, ...(title !== undefined && { title }), ...(explicit !== undefined && { explicit }), decision, patterns }
}

interface Target {
  readonly permission: string
  readonly pattern: string
  readonly explicit: string | undefined
  readonly harmless: boolean | undefined
}

function decided({ layers, approvals, place, bypass }: Judging, target: Target): ExplainedNeed['patterns'][number] {
  const { permission, pattern, explicit, harmless } = target
  if (layers.floor !== undefined && isBelow(layers.floor, target)) return { pattern, decision: 'deny', by: 'floor', rule: null }
  const found = decidingRule({ layers, approvals, bypass: bypass || harmless === true }, permission, pattern)
  if (explicit !== undefined && found.decision === 'allow') return { pattern, decision: 'ask', by: 'explicit', rule: found.rule }
  if (found.by === 'bypass') return { pattern, ...found, by: bypass ? 'bypass' : 'harmless' }
  const answer = found.by === 'answer' ? approvals.findLast((each) => isApproved([each], permission, pattern)) : undefined
  return { pattern, ...found, ...(answer !== undefined && { answer: rememberedAs(place, answer) }) }
}
