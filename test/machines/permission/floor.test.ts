// Holds subsystems d.6; decision 42: nothing that is said widens what the session of a stranger may.
import { describe, expect, test } from 'vitest'
import { isBelow, isOnFloor } from '../../../src/machines/permission/floor.js'
import { evaluateLayers, type JudgeInput, judge, type PermissionLayers } from '../../../src/machines/permission/permission.js'

const floor = { roots: ['/srv/a'], isConfined: true }
const all = [{ permission: '*', pattern: '*', action: 'allow' as const }]
const BARE: PermissionLayers = { trusted: [], untrusted: [] }

/** Every way to allow something. */
const WAYS: Readonly<Record<string, (permission: string) => Omit<JudgeInput, 'need'>>> = {
  'a rule': () => ({ layers: { trusted: all, untrusted: [] }, approvals: () => [], grants: [], bypass: false }),
  'an accepted workflow': () => ({
    layers: { ...BARE, workflow: { rules: all, isAccepted: true } },
    approvals: () => [],
    grants: [],
    bypass: false,
  }),
  'a remembered answer': (permission) => ({
    layers: BARE,
    approvals: () => [{ permission, pattern: '*', action: 'allow' as const }],
    grants: [],
    bypass: false,
  }),
  'an answer': (permission) => ({ layers: BARE, approvals: () => [], grants: [{ permission, pattern: '/x' }], bypass: false }),
  'the bypass': () => ({ layers: BARE, approvals: () => [], grants: [], bypass: true }),
  'a ceiling': () => ({
    layers: { trusted: all, untrusted: [], ceilings: [{ trusted: all, untrusted: [] }] },
    approvals: () => [],
    grants: [],
    bypass: false,
  }),
}
const LISTED = ['read', 'glob', 'grep', 'edit', 'bash', 'todowrite', 'question', 'doom_loop', 'task', 'stop_task', 'complete_goal']
const CLOSED = [
  'external_directory',
  'network',
  'git',
  'webfetch',
  'websearch',
  'external_agent',
  'mcp',
  'memory',
  'lsp',
  'move_chat',
  'skill',
  'anything',
]

describe.each(Object.entries(WAYS))('%s', (_, way) => {
  test.each([...LISTED, ...CLOSED])('allows %s without a floor, and above it alone', (permission) => {
    const given = way(permission)
    const need = { permission, patterns: ['/x'] }
    expect(judge({ ...given, need }).decision).toBe('allow')
    const layers = { ...given.layers, floor }
    const expected = LISTED.includes(permission) ? 'allow' : 'deny'
    expect(judge({ ...given, layers, need })).toEqual({ decision: expected, patterns: expected === 'allow' ? [] : ['/x'] })
    expect(judge({ ...given, layers: { ...layers, floor: { ...floor, roots: [] } }, need }).decision).toBe('deny')
    expect(evaluateLayers(layers, permission, '/x') === 'deny').toBe(expected === 'deny')
  })
})

test('the floors of sessions above hold for what they have delegated', () => {
  const above = (roots: readonly string[]) => ({ ...BARE, floor: { roots, isConfined: true } })
  const judged = (ceiling: PermissionLayers, permission: string) =>
    judge({
      layers: { trusted: all, untrusted: [], ceilings: [{ trusted: all, untrusted: [], ceilings: [{ ...ceiling, trusted: all }] }] },
      approvals: () => [],
      grants: [],
      bypass: true,
      need: { permission, patterns: ['/x'] },
    }).decision
  expect([judged(BARE, 'read'), judged(above(['/srv/a']), 'read'), judged(above([]), 'read')]).toEqual(['allow', 'allow', 'deny'])
  expect([judged(BARE, 'webfetch'), judged(above(['/srv/a']), 'webfetch')]).toEqual(['allow', 'deny'])
})

test('a protected file is changed by nobody, and what only the sandbox sees passes', () => {
  expect(isBelow(floor, { permission: 'edit', explicit: 'it decides what git runs' })).toBe(true)
  expect(isBelow(floor, { permission: 'bash', explicit: 'part of it is not known' })).toBe(false)
  expect(isBelow(floor, { permission: 'external_directory', harmless: true })).toBe(false)
  expect(isBelow(floor, { permission: 'network', harmless: true })).toBe(true)
})

test('tools are of the program itself', () => {
  expect(isOnFloor(floor, 'read', 'dev.svc.files')).toBe(true)
  expect(isOnFloor(floor, 'read', 'dev.example.files')).toBe(false)
  expect(isOnFloor(floor, 'execute', 'dev.svc.mcp')).toBe(false)
  expect(isOnFloor({ ...floor, roots: [] }, 'read', 'dev.svc.files')).toBe(false)
})
