import { describe, expect, test } from 'vitest'
import { decidingRule } from '../../../src/machines/permission/deciding-rule.js'
import { judge, type PermissionLayers } from '../../../src/machines/permission/permission.js'
import type { PermissionAction, PermissionRule } from '../../../src/protocol/interaction/interaction.js'

const rule = (permission: string, pattern: string, action: PermissionAction): PermissionRule => ({ permission, pattern, action })
const ALLOW = rule('bash', 'git *', 'allow')
const DENY = rule('bash', 'git push *', 'deny')
const layers = (more: Partial<PermissionLayers>): PermissionLayers => ({ trusted: [], untrusted: [], ...more })
const standing = (more: Partial<PermissionLayers>) => ({ layers: layers(more), approvals: [], bypass: false })

describe('who decides', () => {
  test('is the last rule that matches, and nobody where none does', () => {
    const own = standing({ trusted: [ALLOW, DENY] })
    expect(decidingRule(own, 'bash', 'git status')).toEqual({ decision: 'allow', by: 'rule', rule: ALLOW })
    expect(decidingRule(own, 'bash', 'git push origin')).toEqual({ decision: 'deny', by: 'rule', rule: DENY })
    expect(decidingRule(own, 'bash', 'ls')).toEqual({ decision: 'ask', by: 'default', rule: null })
  })

  test('is the layer that is stricter: a project file, a workflow, a session above', () => {
    const strict = rule('bash', '*', 'ask')
    expect(decidingRule(standing({ trusted: [ALLOW], untrusted: [strict] }), 'bash', 'git log')).toEqual({
      decision: 'ask',
      by: 'project-rule',
      rule: strict,
    })
    const workflow = { rules: [rule('bash', '*', 'deny')], isAccepted: true }
    expect(decidingRule(standing({ trusted: [ALLOW], workflow }), 'bash', 'git log')).toMatchObject({
      decision: 'deny',
      by: 'workflow-rule',
    })
    const ceilings = [layers({ trusted: [rule('bash', '*', 'deny')] })]
    expect(decidingRule(standing({ trusted: [ALLOW], ceilings }), 'bash', 'git log')).toMatchObject({ decision: 'deny', by: 'delegator' })
  })

  test('is an answer that is remembered, or the switch that grants all, where a rule asks', () => {
    const approvals = [{ ...rule('bash', 'ls', 'allow'), exact: true as const }]
    expect(decidingRule({ layers: layers({}), approvals, bypass: false }, 'bash', 'ls')).toEqual({
      decision: 'allow',
      by: 'answer',
      rule: null,
    })
    expect(decidingRule({ layers: layers({}), approvals: [], bypass: true }, 'bash', 'ls')).toMatchObject({
      decision: 'allow',
      by: 'bypass',
    })
    const denied = { layers: layers({ trusted: [rule('bash', '*', 'deny')] }), approvals, bypass: true }
    expect(decidingRule(denied, 'bash', 'ls')).toMatchObject({ decision: 'deny', by: 'rule' })
  })

  test('is always of the same mind as the judge', () => {
    const actions = ['allow', 'ask', 'deny'] as const
    const either = actions.flatMap((a) => actions.map((b): readonly PermissionRule[] => [rule('x', '*', a), rule('x', 'p*', b)]))
    const sets: readonly (readonly PermissionRule[])[] = [[], ...either]
    for (const trusted of sets)
      for (const untrusted of sets)
        for (const above of sets)
          for (const bypass of [false, true])
            for (const isAccepted of [false, true]) {
              const all: PermissionLayers = {
                trusted,
                untrusted,
                workflow: { rules: above, isAccepted },
                ceilings: [layers({ trusted: above, untrusted: trusted })],
              }
              const need = { permission: 'x', patterns: ['pq'] }
              const { decision } = judge({ layers: all, approvals: () => [], grants: [], need, bypass })
              expect(decidingRule({ layers: all, approvals: [], bypass }, 'x', 'pq').decision).toBe(decision)
            }
  })
})
