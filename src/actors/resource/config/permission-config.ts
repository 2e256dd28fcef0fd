/** Permission maps before they are rules: merging, cleaning, and showing what a workspace narrows (sessions-events §8.3, 8.4). */
import { type PermissionConfig, PermissionConfig as PermissionSchema } from '../../../protocol/resource/agent-config.js'
import { PermissionAction } from '../../../protocol/interaction/interaction.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { deepMerge, recordAt } from './config-merge.js'

/** Stands among the permissions of a document and is none: whether commands run in a sandbox. */
const SANDBOX = 'sandbox'

/** The permission map of a document or agent definition; unknown actions are left out. */
export function permissionOf(holder: unknown): PermissionConfig {
  const result: Record<string, string | Record<string, string>> = {}
  for (const [group, value] of Object.entries(recordAt(holder, 'permission'))) {
    if (group === SANDBOX) continue
    if (isAction(value)) result[group] = value
    else if (typeof value !== 'string') {
      result[group] = Object.fromEntries(
        Object.entries(recordAt({ value }, 'value')).filter((entry): entry is [string, string] => isAction(entry[1])),
      )
    }
  }
  return result
}

/** Merges per group and pattern; an action replaces a map and the reverse. Groups keep the place where they were first seen. */
export function mergePermission(base: PermissionConfig, over: PermissionConfig): PermissionConfig {
  return PermissionSchema.parse(deepMerge(base, over))
}

/**
 * The global map merged into an agent's own map. A bare `*` of the global map never replaces a native `*` deny:
 * it would unlock agents that may do nothing but what they list (subsystems b.7, q.4). A bare `*` allow also settles
 * `doom_loop`, which is no access but a question to a person: who allows everything may not be there to answer.
 */
export function mergeGlobalPermission(native: PermissionConfig, global: PermissionConfig): PermissionConfig {
  if (native['*'] !== 'deny') {
    const settled = global['*'] === 'allow' && native['doom_loop'] === 'ask' ? { ...native, doom_loop: 'allow' as const } : native
    return mergePermission(settled, global)
  }
  const { '*': _all, ...rest } = global
  return mergePermission(native, rest)
}

/**
 * The trusted map with those entries of a workspace that tighten it: what people are shown. Decisions use the two
 * lists of rules apart (threat-model W3).
 */
export function showNarrowed(trusted: PermissionConfig, narrowing: PermissionConfig): PermissionConfig {
  const shown: Record<string, string | Record<string, string>> = { ...trusted }
  for (const [group, value] of Object.entries(narrowing)) {
    const tighter = Object.entries(patternsOf(value)).filter(
      ([pattern, action]) => strictness(action) > strictness(actionOf(trusted, group, pattern)),
    )
    if (tighter.length === 0) continue
    const before = shown[group]
    const patterns = { ...(before === undefined ? {} : patternsOf(before)), ...Object.fromEntries(tighter) }
    const [first] = Object.entries(patterns)
    shown[group] = Object.keys(patterns).length === 1 && first?.[0] === '*' ? first[1] : patterns
  }
  return shown
}

/** Paths of a workspace map that are looser than what the trusted map says of the same target, and so have no effect on it. */
export function looserEntries(trusted: PermissionConfig, narrowing: PermissionConfig): readonly string[] {
  return Object.entries(narrowing).flatMap(([group, value]) => {
    const looser = Object.entries(patternsOf(value)).filter(
      ([pattern, action]) => strictness(action) < strictness(actionOf(trusted, group, pattern)),
    )
    return looser.map(([pattern]) => (typeof value === 'string' ? `permission.${group}` : `permission.${group}.${pattern}`))
  })
}

function patternsOf(value: string | Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return typeof value === 'string' ? { '*': value } : value
}

/** Paths below `permission` whose action is none of allow, deny and ask. */
export function unknownActions(holder: JsonRecord): readonly string[] {
  return Object.entries(recordAt(holder, 'permission')).flatMap(([group, value]) => {
    if (group === SANDBOX) return []
    if (typeof value === 'string') return isAction(value) ? [] : [`permission.${group}`]
    const patterns = Object.entries(recordAt({ value }, 'value'))
    return patterns.filter(([, action]) => !isAction(action)).map(([pattern]) => `permission.${group}.${pattern}`)
  })
}

/** What the permissions of a document say of the sandbox; whatever is not "off" switches it on, so that a slip of the pen does not open it. */
export function sandboxOf(document: unknown): 'on' | 'off' | undefined {
  const value = recordAt(document, 'permission')[SANDBOX]
  if (value === undefined) return undefined
  return value === 'off' ? 'off' : 'on'
}

/** A workspace switches the sandbox on, never off (threat-model W3). */
export function narrowedSandbox(trusted: unknown, workspace: unknown): 'on' | 'off' | undefined {
  return sandboxOf(workspace) === 'on' ? 'on' : (sandboxOf(trusted) ?? sandboxOf(workspace))
}

/** Values of the sandbox that are none, and agents that say something of it. */
export function sandboxFaults(document: JsonRecord): readonly { readonly path: string; readonly message: string }[] {
  const value = recordAt(document, 'permission')[SANDBOX]
  const isKnown = value === undefined || value === 'on' || value === 'off'
  const own = isKnown ? [] : [{ path: `permission.${SANDBOX}`, message: 'must be "on" or "off"; it counts as "on"' }]
  const agents = Object.entries(recordAt(document, 'agent')).filter(([, agent]) => Object.hasOwn(recordAt(agent, 'permission'), SANDBOX))
  const message = 'has no effect: the sandbox is set for all agents, by permission.sandbox of the document'
  return [...own, ...agents.map(([name]) => ({ path: `agent.${name}.permission.${SANDBOX}`, message }))]
}

function actionOf(map: PermissionConfig, group: string, pattern: string): string {
  const own = map[group] ?? map['*']
  if (own === undefined) return 'allow'
  return typeof own === 'string' ? own : (own[pattern] ?? own['*'] ?? 'ask')
}

function strictness(action: string): number {
  return ['allow', 'ask', 'deny'].indexOf(action)
}

function isAction(value: unknown): value is PermissionAction {
  return PermissionAction.safeParse(value).success
}
