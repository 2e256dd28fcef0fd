/**
 * Allow, deny or ask, from rules and a need (sessions-events §8, subsystems b.8, threat-model G1, G3, W3).
 * Inside one layer the last matching rule wins; an untrusted layer can only make the answer stricter;
 * approvals and one-time grants only turn *ask* into *allow*.
 */
import { type Approval, PermissionAction, type PermissionRule } from '../../protocol/interaction/interaction.js'
import { type Floor, isBelow } from './floor.js'
import { compareWildcard } from './wildcard.js'
import { isRecord } from '../../protocol/text/json.js'

/** Rules by trust. `trusted`: built-in, installation and session rules in evaluation order; `untrusted`: rules of project files. */
export interface PermissionLayers {
  readonly trusted: readonly PermissionRule[]
  readonly untrusted: readonly PermissionRule[]
  /** Of the workflow file that began the run. */
  readonly workflow?: WorkflowLayer
  /** Of the sessions that delegated to this one: none of them may be exceeded. */
  readonly ceilings?: readonly PermissionLayers[]
  /** Of the session of a stranger: what lies below it is denied before any rule is looked at. */
  readonly floor?: Floor
}

/** Rules of a workflow file undo no deny of `trusted`; its ask they turn into allow only when somebody stands for the content (choice 16). */
interface WorkflowLayer {
  readonly rules: readonly PermissionRule[]
  readonly isAccepted: boolean
}

/** What a tool call needs: each pattern is judged on its own, all must be allowed. */
export interface JudgedNeed {
  readonly permission: string
  readonly patterns: readonly string[]
  /** Present: nothing but a one-time grant allows it. */
  readonly explicit?: string | undefined
  /** What a rule would ask about does no harm here. */
  readonly harmless?: boolean | undefined
}

/** A one-time answer: exactly this target of this call. */
export interface PermissionGrant {
  readonly permission: string
  readonly pattern: string
}

export interface JudgeInput {
  readonly layers: PermissionLayers
  /** Remembered "always" answers of the project; asked for only where they count. */
  readonly approvals: () => readonly Approval[]
  /** One-time grants of the current call. */
  readonly grants: readonly PermissionGrant[]
  readonly need: JudgedNeed
  /** `dangerouslySkipPermissions`: asks are granted, explicit needs and denies are not. */
  readonly bypass: boolean
}

export interface Judgement {
  readonly decision: PermissionAction
  /** `ask`: the patterns still to be asked; `deny`: the patterns denied; `allow`: none. */
  readonly patterns: readonly string[]
}

const STRICTNESS: Readonly<Record<PermissionAction, number>> = { allow: 0, ask: 1, deny: 2 }

/** Judges one need. A deny of the rules is final; a need without patterns is judged as the pattern `*`. */
export function judge(input: JudgeInput): Judgement {
  const { layers, grants, need, bypass } = input
  const patterns = need.patterns.length > 0 ? need.patterns : ['*']
  if (isBelowAny(layers, need)) return { decision: 'deny', patterns }
  const denied: string[] = []
  const asked: string[] = []
  for (const pattern of patterns) {
    const ruled = evaluateRules(layers, need.permission, pattern)
    if (ruled === 'deny') denied.push(pattern)
    else if (!mayPass(ruled, pattern)) asked.push(pattern)
  }
  if (denied.length > 0) return { decision: 'deny', patterns: denied }
  return asked.length > 0 ? { decision: 'ask', patterns: asked } : { decision: 'allow', patterns: [] }

  function mayPass(ruled: PermissionAction, pattern: string): boolean {
    if (grants.some((grant) => grant.permission === need.permission && grant.pattern === pattern)) return true
    if (need.explicit !== undefined) return false
    return ruled === 'allow' || bypass || isApproved(input.approvals(), need.permission, pattern)
  }
}

export function isApproved(approvals: readonly Approval[], permission: string, pattern: string): boolean {
  return approvals.some((approval) =>
    approval.exact === true
      ? approval.permission === permission && approval.pattern === pattern
      : matches(approval.permission, permission, 'allow') && matches(approval.pattern, pattern, 'allow'),
  )
}

/** Below its own floor, or that of a session above. */
function isBelowAny({ floor, ceilings = [] }: PermissionLayers, need: Parameters<typeof isBelow>[1]): boolean {
  return (floor !== undefined && isBelow(floor, need)) || ceilings.some((ceiling) => isBelowAny(ceiling, need))
}

/** The same for what is no need of a call: below the floor everything is denied. */
export function evaluateLayers(layers: PermissionLayers, permission: string, pattern: string): PermissionAction {
  return isBelowAny(layers, { permission }) ? 'deny' : evaluateRules(layers, permission, pattern)
}

/** The stricter of what the trusted rules say and what an untrusted rule, if one matches, says (threat-model W3). */
function evaluateRules(layers: PermissionLayers, permission: string, pattern: string): PermissionAction {
  const trusted = evaluate(layers.trusted, permission, pattern)
  const narrowed = lastMatch(layers.untrusted, permission, pattern)?.action ?? 'allow'
  const own = stricter(narrowed, withWorkflow(trusted))
  return (layers.ceilings ?? []).reduce((strictest, ceiling) => stricter(evaluateRules(ceiling, permission, pattern), strictest), own)

  function withWorkflow(before: PermissionAction): PermissionAction {
    const said = layers.workflow && lastMatch(layers.workflow.rules, permission, pattern)?.action
    if (said === undefined) return before
    if (said !== 'allow') return stricter(said, before)
    return before === 'ask' && layers.workflow?.isAccepted === true ? 'allow' : before
  }
}

function stricter(a: PermissionAction, b: PermissionAction): PermissionAction {
  return isStricter(a, b) ? a : b
}

export function isStricter(a: PermissionAction, b: PermissionAction): boolean {
  return STRICTNESS[a] > STRICTNESS[b]
}

/** The action of the last rule whose permission and pattern both match; `ask` when none does (§8.1). */
export function evaluate(rules: readonly PermissionRule[], permission: string, pattern: string): PermissionAction {
  return lastMatch(rules, permission, pattern)?.action ?? 'ask'
}

/** Whether no layer hides the tools of this permission name. */
export function isOfferedByAll({ trusted, untrusted, workflow, ceilings = [] }: PermissionLayers, permission: string): boolean {
  const own = [trusted, untrusted, workflow?.rules ?? []].every((rules) => isToolOffered(rules, permission))
  return own && ceilings.every((ceiling) => isOfferedByAll(ceiling, permission))
}

/** False when the last rule for this permission name denies everything (§8.6). */
export function isToolOffered(rules: readonly PermissionRule[], permission: string): boolean {
  const rule = rules.findLast((candidate) => matches(candidate.permission, permission, candidate.action))
  return rule?.pattern !== '*' || rule.action !== 'deny'
}

/**
 * Rules of the configuration form `group -> action | { pattern -> action }` (§8.3): the bare `*` group and,
 * inside a group, the bare `*` pattern come first, the rest keeps its order (subsystems b.3). Unknown
 * actions are left out; `home`, when given, replaces a leading `~` or `$HOME`.
 */
export function flattenPermissionConfig(map: Readonly<Record<string, unknown>>, home?: string): PermissionRule[] {
  const rules: PermissionRule[] = []
  for (const [permission, value] of starFirst(map)) {
    const patterns = isRecord(value) ? starFirst(value) : [['*', value] as const]
    for (const [pattern, candidate] of patterns) {
      const action = PermissionAction.safeParse(candidate)
      if (!action.success || permission === '' || pattern === '') continue
      rules.push({ permission, pattern: home === undefined ? pattern : expandHome(pattern, home), action: action.data })
    }
  }
  return rules
}

/** Replaces a leading `~`, `~/`, `$HOME` or `$HOME/` by the home directory. */
export function expandHome(pattern: string, home: string): string {
  for (const name of ['~', '$HOME']) {
    if (pattern === name || pattern.startsWith(`${name}/`)) return home + pattern.slice(name.length)
  }
  return pattern
}

/** The rule that speaks last of those that match both. */
export function lastMatch(rules: readonly PermissionRule[], permission: string, pattern: string): PermissionRule | undefined {
  return rules.findLast((rule) => matches(rule.permission, permission, rule.action) && matches(rule.pattern, pattern, rule.action))
}

/** A comparison that would cost too much restricts but never allows. */
function matches(pattern: string, text: string, action: PermissionAction): boolean {
  const result = compareWildcard(pattern, text)
  return result === 'match' || (result === 'spent' && action !== 'allow')
}

function starFirst(map: Readonly<Record<string, unknown>>): (readonly [string, unknown])[] {
  const entries = Object.entries(map)
  return [...entries.filter(([key]) => key === '*'), ...entries.filter(([key]) => key !== '*')]
}
