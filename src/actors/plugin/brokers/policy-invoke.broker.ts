/**
 * What the rules of a session say, and asking the person (`host.policy.call`; threat-model G1, G4, G5).
 *
 * I1 What is answered is what would be decided: in a tool call by the rules of its run, which no plugin can widen. Of a line of several
 *    commands that is the strictest word about any of them, and nothing is allowed of a protected file (G2, G3).
 * I2 A question is asked in the name of the plugin, belongs to the call that it is in, and ends with it, with its time, and with the lease.
 * I3 Nobody is asked what a rule denies or allows, and an answer is remembered by nobody: it is for the plugin alone.
 */
import { isStricter } from '../../../machines/permission/permission.js'
import { SvcError } from '../../../protocol/errors.js'
import { linesWithin } from '../../../machines/permission/lines-within.js'
import type { PermissionAction } from '../../../protocol/interaction/interaction.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { Deciding, PolicyDoor } from '../../../ports/broker-doors.js'
import type { ToolContext } from '../../../ports/plugin.js'
import type { Store } from '../../../store/store.js'
import { type Broker, type BrokerLease, defineBroker } from './broker.js'
import { createOpenings, type Opening } from './openings.js'
import { meantSession, mustMeanSession } from './own-sessions.js'

export interface PolicyBrokerDeps {
  readonly effects: Pick<Effects, 'clock'>
  readonly store: Pick<Store, 'sessions'>
  policy(): PolicyDoor
  /** Whether it takes an answer whatever rules say, that a path below a directory is changed. */
  isProtected(directory: string, path: string): Promise<boolean>
}

interface Question {
  answer?: { readonly outcome: 'granted' | 'refused'; readonly message: string | null }
}

const limits = LIMITS.pluginAsks
const NO_CALL =
  'the plugin is in no tool call of a session, or of several and "sessionId" does not say which: a question belongs to a call and ends with it'

export function policyBroker(deps: PolicyBrokerDeps): Broker {
  return defineBroker('policy-invoke', (lease) => {
    const openings = createOpenings<Question>(lease, {
      clock: deps.effects.clock,
      what: ['question', 'questions'],
      kind: 'question',
      running: limits.running,
      kept: limits.kept,
    })
    return {
      operations: {
        async evaluate({ permission, patterns, sessionId }) {
          const session = mustMeanSession(deps.store.sessions, lease, sessionId)
          const shown = await evaluated(deps, lease, { sessionId: session.id, directory: session.directory, permission, patterns })
          return { decision: strictest(shown.map(({ decision }) => decision)), patterns: shown }
        },
        async ask({ permission, patterns, sessionId, title }) {
          const session = meantSession(deps.store.sessions, lease, sessionId)
          const call = session === undefined ? undefined : lease.served.toolCall(session.id)
          if (call === undefined) throw new SvcError('request.unprocessable', NO_CALL)
          openings.refuseTooMany()
          const decision = strictest([
            ...patterns.flatMap((pattern) => decisionIn(call, permission, pattern)),
            ...(await explicitOf(deps, call, permission, patterns)).map((isExplicit) => (isExplicit ? 'ask' : 'allow')),
          ])
          const { pluginId } = lease.owner
          const question: Question = {}
          if (decision === 'allow') question.answer = { outcome: 'granted', message: null }
          if (decision === 'deny') question.answer = { outcome: 'refused', message: 'A permission rule denies it.' }
          const run = async (signal: AbortSignal): Promise<void> => {
            if (question.answer !== undefined) return // I3
            const asked = deps.policy().ask(call, { pluginId, title, permission, patterns }, AbortSignal.any([signal, call.signal]))
            const answer = await asked
            question.answer = answer.granted ? { outcome: 'granted', message: null } : { outcome: 'refused', message: answer.message }
          }
          const opening = openings.open(question, { timeoutMs: limits.time, run })
          return { opaqueId: opening.opaqueId, ...answerOf(opening) }
        },
        async answer({ opaqueId, waitMs }, { signal }) {
          await openings.until(opaqueId, { ms: waitMs, signal })
          return answerOf(openings.find(opaqueId))
        },
        withdraw: async ({ opaqueId }) => ({ withdrawn: await openings.close(opaqueId) }),
      },
    }
  })
}

interface Asked {
  readonly sessionId: string
  readonly directory: string
  readonly permission: string
  readonly patterns: readonly string[]
}

/** I1 */
async function evaluated(deps: PolicyBrokerDeps, lease: BrokerLease, { permission, patterns, ...place }: Asked) {
  const explicit = await explicitOf(deps, place, permission, patterns)
  const lines = patterns.map((pattern) => linesOf(permission, pattern))
  const explained = await deps.policy().explain(place, permission, lines.flat())
  const call = lease.served.toolCall(place.sessionId)
  let from = 0
  return patterns.map((pattern, index) => {
    const own = explained.slice(from, (from += lines[index]?.length ?? 0))
    const { decision, by, rule } = own.reduce(
      (strict, each) => (isStricter(each.decision, strict.decision) ? each : strict),
      own[0] ?? NOTHING,
    )
    const judged = strictest([
      call === undefined ? decision : decisionIn(call, permission, pattern),
      explicit[index] === true || own.length === 0 ? 'ask' : 'allow',
    ])
    if (judged === decision) return { pattern, decision, by, rule }
    return { pattern, decision: judged, by: 'session' as const, rule: null }
  })
}

const NOTHING: Deciding = { decision: 'ask', by: 'default', rule: null }

/** Empty for a line that cannot be read. */
function linesOf(permission: string, pattern: string): readonly string[] {
  return permission === 'bash' ? (linesWithin(pattern) ?? []) : [pattern]
}

function decisionIn(call: Pick<ToolContext, 'decisions'>, permission: string, pattern: string): PermissionAction {
  const lines = linesOf(permission, pattern)
  return lines.length === 0 ? strictest(['ask', ...call.decisions(permission, [pattern])]) : strictest(call.decisions(permission, lines))
}

function explicitOf(
  { isProtected }: PolicyBrokerDeps,
  { directory }: { readonly directory: string },
  permission: string,
  patterns: readonly string[],
): Promise<readonly boolean[]> {
  return Promise.all(patterns.map(async (pattern) => permission === 'edit' && isProtected(directory, pattern)))
}

function strictest(decisions: readonly PermissionAction[]): PermissionAction {
  return decisions.reduce((strict: PermissionAction, each) => (isStricter(each, strict) ? each : strict), 'allow')
}

function answerOf({ about: { answer }, isOver, stopped, failure }: Opening<Question>) {
  if (answer !== undefined) return answer
  if (!isOver) return { outcome: 'waiting' as const, message: null }
  if (stopped === 'time') return { outcome: 'expired' as const, message: 'Nobody answered in time.' }
  return { outcome: 'refused' as const, message: failure ?? 'The question was taken back.' }
}
