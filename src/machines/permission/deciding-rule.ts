/** Which rule decides of a target, and whose it is: the answer of `judge`, with its reason. Pure. */
import type { Approval, PermissionAction, PermissionRule } from '../../protocol/interaction/interaction.js'
import { evaluateLayers, isApproved, lastMatch, type PermissionLayers } from './permission.js'

export interface Deciding {
  readonly decision: PermissionAction
  readonly by: 'rule' | 'project-rule' | 'workflow-rule' | 'delegator' | 'answer' | 'bypass' | 'default'
  readonly rule: PermissionRule | null
}

interface Standing {
  readonly layers: PermissionLayers
  readonly approvals: readonly Approval[]
  /** `dangerouslySkipPermissions`. */
  readonly bypass: boolean
}

/** As `judge` would decide of it without an explicit need and without a grant. */
export function decidingRule({ layers, approvals, bypass }: Standing, permission: string, pattern: string): Deciding {
  const ruled = rulingOf(layers, permission, pattern)
  if (ruled.decision !== 'ask') return ruled
  if (isApproved(approvals, permission, pattern)) return { decision: 'allow', by: 'answer', rule: null }
  return bypass ? { decision: 'allow', by: 'bypass', rule: null } : ruled
}

/** The layer whose word is the one of all of them: the strictest, and of equals the innermost. */
function rulingOf(layers: PermissionLayers, permission: string, pattern: string): Deciding {
  const decision = evaluateLayers(layers, permission, pattern)
  const own = ownRuling(layers, permission, pattern)
  if (own.decision === decision) return own
  for (const ceiling of layers.ceilings ?? []) {
    const { decision: above, rule } = rulingOf(ceiling, permission, pattern)
    if (above === decision) return { decision, by: 'delegator', rule }
  }
  return { decision, by: 'default', rule: null }
}

function ownRuling({ trusted, untrusted, workflow }: PermissionLayers, permission: string, pattern: string): Deciding {
  const rule = lastMatch(trusted, permission, pattern)
  const decision = evaluateLayers({ trusted, untrusted, ...(workflow && { workflow }) }, permission, pattern)
  const ofWorkflow = workflow && lastMatch(workflow.rules, permission, pattern)
  const ofProject = lastMatch(untrusted, permission, pattern)
  if ((rule?.action ?? 'ask') === decision)
    return rule === undefined ? { decision, by: 'default', rule: null } : { decision, by: 'rule', rule }
  if (ofProject?.action === decision) return { decision, by: 'project-rule', rule: ofProject }
  if (ofWorkflow?.action === decision) return { decision, by: 'workflow-rule', rule: ofWorkflow }
  return { decision, by: 'default', rule: null }
}
