// Holds sessions-events §8, §8.2; subsystems b.3, b.8.
import { describe, expect, it } from 'vitest'
import {
  evaluate,
  evaluateLayers,
  expandHome,
  flattenPermissionConfig,
  isOfferedByAll,
  isToolOffered,
  type JudgeInput,
  judge,
} from '../../../src/machines/permission/permission.js'
import { compareWildcard, matchWildcard } from '../../../src/machines/permission/wildcard.js'
import type { PermissionRule } from '../../../src/protocol/interaction/interaction.js'

const rule = (permission: string, pattern: string, action: PermissionRule['action']): PermissionRule => ({ permission, pattern, action })

describe('a wildcard', () => {
  it.each([
    ['git *', 'git push origin/x', true],
    ['git *', 'git', false],
    ['*', '', true],
    ['*', 'a\nb/c', true],
    ['', '', true],
    ['', 'a', false],
    ['abc', 'abc', true],
    ['abc', 'ABC', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a😀c', true],
    ['?', '😀', true],
    ['*.env', '.env', true],
    ['*.env', 'x.env.example', false],
    ['**/x.ts', 'x.ts', true],
    ['**/x.ts', 'a/x.ts', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['*ab*ab', 'ab', false],
    ['*ab*ab', 'abab', true],
    ['a*a', 'a', false],
    ['*aab*', 'aaab', true],
    ['x*?y', 'xy', false],
    ['x*?y', 'xzzy', true],
    ['[a]', 'a', false],
    ['a.c', 'abc', false],
  ])('%j on %j is %j', (pattern, text, expected) => {
    expect(matchWildcard(pattern, text)).toBe(expected)
  })

  it('is matched in linear time', () => {
    const text = 'a'.repeat(200_000)
    expect(compareWildcard(`${'*a'.repeat(50_000)}*b`, text)).toBe('miss')
    expect(compareWildcard(`*${'a'.repeat(50_000)}b*`, text)).toBe('miss')
    expect(compareWildcard(`*?${'a'.repeat(50_000)}b*`, text)).toBe('spent')
  })

  it('that costs too much restricts but never allows', () => {
    const costly = `*?${'a'.repeat(5_000)}b*`
    const text = 'a'.repeat(20_000)
    expect(evaluate([rule('x', '*', 'deny'), rule('x', costly, 'allow')], 'x', text)).toBe('deny')
    expect(evaluate([rule('x', '*', 'allow'), rule('x', costly, 'deny')], 'x', text)).toBe('deny')
  })
})

describe('rules', () => {
  it('are decided by the last match, and ask when none matches', () => {
    const rules = [rule('*', '*', 'allow'), rule('bash', 'rm *', 'deny'), rule('bash', 'rm -i *', 'ask')]
    expect(evaluate(rules, 'bash', 'ls')).toBe('allow')
    expect(evaluate(rules, 'bash', 'rm x')).toBe('deny')
    expect(evaluate(rules, 'bash', 'rm -i x')).toBe('ask')
    expect(evaluate([], 'bash', 'ls')).toBe('ask')
    expect(evaluate([rule('mcp__*', '*', 'allow')], 'mcp__a__b', 'x')).toBe('allow')
  })

  it('come from a configuration map with the bare star first and the rest in file order', () => {
    const map = { bash: { 'git *': 'allow', '*': 'ask', 'git push *': 'deny' }, '*': 'allow', edit: 'maybe', read: { '~/x': 'deny' } }
    expect(flattenPermissionConfig(map, '/home/u')).toEqual([
      rule('*', '*', 'allow'),
      rule('bash', '*', 'ask'),
      rule('bash', 'git *', 'allow'),
      rule('bash', 'git push *', 'deny'),
      rule('read', '/home/u/x', 'deny'),
    ])
  })

  it('expand the home directory at the start of a pattern only', () => {
    expect(['~', '~/a', '$HOME', '$HOME/a', '~u/a', 'x/~', '$HOMER'].map((pattern) => expandHome(pattern, '/h'))).toEqual([
      '/h',
      '/h/a',
      '/h',
      '/h/a',
      '~u/a',
      'x/~',
      '$HOMER',
    ])
  })

  it('hide a tool when the last rule for it denies everything', () => {
    const rules = [rule('*', '*', 'allow'), rule('edit', '*', 'deny')]
    expect(isToolOffered(rules, 'edit')).toBe(false)
    expect(isToolOffered(rules, 'bash')).toBe(true)
    expect(isToolOffered([...rules, rule('edit', 'docs/*', 'allow')], 'edit')).toBe(true)
    expect(isToolOffered([], 'edit')).toBe(true)
  })
})

describe('rules of a project', () => {
  const trusted = [rule('*', '*', 'allow'), rule('bash', 'git push *', 'deny'), rule('bash', 'npm *', 'ask')]

  it('narrow what the installation allows', () => {
    const layers = { trusted, untrusted: [rule('bash', '*', 'ask'), rule('bash', 'curl *', 'deny')] }
    expect(evaluateLayers(layers, 'bash', 'ls')).toBe('ask')
    expect(evaluateLayers(layers, 'bash', 'curl x')).toBe('deny')
    expect(evaluateLayers(layers, 'read', 'x')).toBe('allow')
  })

  it('never widen it', () => {
    const layers = { trusted, untrusted: [rule('*', '*', 'allow')] }
    expect(evaluateLayers(layers, 'bash', 'git push x')).toBe('deny')
    expect(evaluateLayers(layers, 'bash', 'npm i')).toBe('ask')
    expect(evaluateLayers({ trusted: [], untrusted: layers.untrusted }, 'bash', 'ls')).toBe('ask')
  })
})

describe('rules of a workflow', () => {
  const trusted = [rule('*', '*', 'allow'), rule('bash', '*', 'ask'), rule('bash', 'rm *', 'deny'), rule('edit', '*', 'deny')]
  const rules = [rule('*', '*', 'allow'), rule('bash', '*', 'allow'), rule('bash', 'git *', 'deny'), rule('edit', '*', 'allow')]
  const decided = (isAccepted: boolean) => {
    const layers = { trusted, untrusted: [], workflow: { rules, isAccepted } }
    return [
      ['bash', 'rm x'],
      ['edit', 'a.txt'],
      ['bash', 'git push'],
      ['bash', 'ls'],
      ['read', 'x'],
    ].map(([permission = '', pattern = '']) => evaluateLayers(layers, permission, pattern))
  }

  it('undo no deny, and turn an ask into allow only when somebody stands for the content', () => {
    expect(decided(true)).toEqual(['deny', 'deny', 'deny', 'allow', 'allow'])
    expect(decided(false)).toEqual(['deny', 'deny', 'deny', 'ask', 'allow'])
  })

  it('allow nothing that a project narrows, and bring no hidden tool back', () => {
    const layers = { trusted, untrusted: [rule('bash', '*', 'ask')], workflow: { rules, isAccepted: true } }
    expect(evaluateLayers(layers, 'bash', 'ls')).toBe('ask')
    expect([isOfferedByAll(layers, 'edit'), isOfferedByAll(layers, 'bash')]).toEqual([false, true])
    expect(isOfferedByAll({ ...layers, workflow: { rules: [rule('bash', '*', 'deny')], isAccepted: true } }, 'bash')).toBe(false)
  })
})

describe('judging a need', () => {
  const input = (over: Partial<JudgeInput>): JudgeInput => ({
    layers: { trusted: [rule('bash', '*', 'ask'), rule('bash', 'ls *', 'allow'), rule('bash', 'rm *', 'deny')], untrusted: [] },
    approvals: () => [],
    grants: [],
    need: { permission: 'bash', patterns: ['ls -l', 'make'] },
    bypass: false,
    ...over,
  })

  it('asks for the patterns that are not allowed yet', () => {
    expect(judge(input({}))).toEqual({ decision: 'ask', patterns: ['make'] })
  })

  it('denies when any pattern is denied, whatever was approved or granted', () => {
    const need = { permission: 'bash', patterns: ['ls -l', 'rm x'] }
    const approvals = () => [rule('bash', '*', 'allow')]
    const grants = [{ permission: 'bash', pattern: 'rm x' }]
    expect(judge(input({ need, approvals, grants, bypass: true }))).toEqual({ decision: 'deny', patterns: ['rm x'] })
  })

  it('takes approvals, one-time grants and the bypass for an answer to an ask', () => {
    const allowed = { decision: 'allow', patterns: [] }
    expect(judge(input({ approvals: () => [rule('bash', 'make', 'allow')] }))).toEqual(allowed)
    expect(judge(input({ approvals: () => [{ ...rule('bash', 'make', 'allow'), exact: true }] }))).toEqual(allowed)
    for (const [permission, pattern] of [
      ['bash', '*'],
      ['bash', 'm?ke'],
      ['*', 'make'],
    ] as const) {
      expect(judge(input({ approvals: () => [{ ...rule(permission, pattern, 'allow'), exact: true }] })).decision).toBe('ask')
    }
    expect(judge(input({ grants: [{ permission: 'bash', pattern: 'make' }] }))).toEqual(allowed)
    expect(judge(input({ bypass: true }))).toEqual(allowed)
    expect(judge(input({ approvals: () => [rule('edit', '*', 'allow')] })).decision).toBe('ask')
  })

  it('takes a one-time grant literally', () => {
    const need = { permission: 'bash', patterns: ['make *'] }
    const grants = [{ permission: 'bash', pattern: 'make *' }]
    expect(judge(input({ need, grants })).decision).toBe('allow')
    expect(judge(input({ need: { ...need, patterns: ['make clean'] }, grants })).decision).toBe('ask')
  })

  it('accepts nothing but a one-time grant where an explicit answer is needed', () => {
    const need = { permission: 'bash', patterns: ['ls -l'], explicit: 'not understood' }
    const asks = { decision: 'ask', patterns: ['ls -l'] }
    expect(judge(input({ need }))).toEqual(asks)
    expect(judge(input({ need, approvals: () => [rule('*', '*', 'allow')], bypass: true }))).toEqual(asks)
    expect(judge(input({ need, grants: [{ permission: 'bash', pattern: 'ls -l' }] })).decision).toBe('allow')
  })

  it('judges a need without patterns as a whole', () => {
    expect(judge(input({ need: { permission: 'todowrite', patterns: [] } }))).toEqual({ decision: 'ask', patterns: ['*'] })
  })

  it('lets a rule of the project narrow, before approvals', () => {
    const layers = { trusted: [rule('*', '*', 'allow')], untrusted: [rule('bash', 'make', 'deny')] }
    expect(judge(input({ layers, approvals: () => [rule('bash', 'make', 'allow')] }))).toEqual({ decision: 'deny', patterns: ['make'] })
  })
})
