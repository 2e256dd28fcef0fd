// Holds threat-model G1, G4.
import { describe, expect, test } from 'vitest'
import { policyBroker } from '../../../src/actors/plugin/brokers/policy-invoke.broker.js'
import type { Deciding } from '../../../src/ports/broker-doors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { PolicyDoor } from '../../../src/ports/broker-doors.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { callOf, leaseOf, serve, storeWith } from './fake-lease.js'

type Answer = Awaited<ReturnType<PolicyDoor['ask']>>

function setUp(explained: (pattern: string) => Deciding = () => ({ decision: 'ask', by: 'default', rule: null })) {
  const effects = createFakeEffects()
  const store = storeWith(effects, ['ses_1'])
  const asked: { question: unknown; signal: AbortSignal; answer(answer: Answer): void }[] = []
  const broker = policyBroker({
    effects,
    store,
    isProtected: async (_directory, path) => path === '.svc/config.json',
    policy: () => ({
      decisions: async () => [],
      explain: async (_of, _permission, patterns) => patterns.map(explained),
      ask: (_call, question, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('the request was withdrawn')))
          asked.push({ question, signal, answer: resolve })
        }),
    }),
  })
  return { effects, lease: leaseOf(effects, ['policy-invoke', broker]), asked }
}

const NEED = { permission: 'bash', patterns: ['ls', 'rm -rf x'] }
const QUESTION = { ...NEED, title: 'clean up' }

describe('what would be decided', () => {
  const DENY = { permission: 'bash', pattern: 'rm *', action: 'deny' } as const
  const explained = (pattern: string): Deciding =>
    pattern === 'ls' ? { decision: 'ask', by: 'default', rule: null } : { decision: 'deny', by: 'rule', rule: DENY }

  test('is told of each pattern, with the rule, and the strictest of all', async () => {
    const { lease } = setUp(explained)
    lease.served.heard('ses_1')
    expect(await lease.call('evaluate', { ...NEED, sessionId: 'ses_1' })).toEqual({
      decision: 'deny',
      patterns: [
        { pattern: 'ls', decision: 'ask', by: 'default', rule: null },
        { pattern: 'rm -rf x', decision: 'deny', by: 'rule', rule: DENY },
      ],
    })
  })

  test('is in a tool call what its run says', async () => {
    const { effects, lease } = setUp(explained)
    serve(lease.served, callOf(effects, { otherwise: 'ask', denied: ['ls'] }))
    expect(await lease.call('evaluate', { permission: 'bash', patterns: ['ls'] })).toEqual({
      decision: 'deny',
      patterns: [{ pattern: 'ls', decision: 'deny', by: 'session', rule: null }],
    })
  })

  test('is of a line the strictest of its commands, and asks of a protected file', async () => {
    const { effects, lease, asked } = setUp((pattern) =>
      pattern.startsWith('rm')
        ? { decision: 'deny', by: 'rule', rule: DENY }
        : { decision: pattern === 'curl x' ? 'ask' : 'allow', by: 'default', rule: null },
    )
    lease.served.heard('ses_1')
    const decide = async (permission: string, pattern: string) =>
      ((await lease.call('evaluate', { permission, patterns: [pattern], sessionId: 'ses_1' })) as { decision: string }).decision
    expect(await decide('bash', 'ls -l')).toBe('allow')
    expect(await decide('bash', 'ls; rm -rf x')).toBe('deny')
    expect(await decide('bash', 'ls $(curl x)')).toBe('ask')
    expect(await decide('bash', ';a'.repeat(100))).toBe('ask')
    expect(await decide('edit', 'a.ts')).toBe('allow')
    expect(await decide('edit', '.svc/config.json')).toBe('ask')
    serve(lease.served, callOf(effects, { denied: ['rm x'] }))
    expect(await decide('edit', '.svc/config.json')).toBe('ask')
    const title = 'why'
    expect(await lease.call('ask', { permission: 'bash', patterns: ['ls\nrm x'], title })).toMatchObject({ outcome: 'refused' })
    expect(await lease.call('ask', { permission: 'edit', patterns: ['.svc/config.json'], title })).toMatchObject({ outcome: 'waiting' })
    expect(asked).toHaveLength(1)
  })

  test('is told of no session that is not its own', async () => {
    const { lease } = setUp()
    await expect(lease.call('evaluate', NEED)).rejects.toThrow('serves no session')
    await expect(lease.call('evaluate', { ...NEED, sessionId: 'ses_1' })).rejects.toThrow('none of its own')
  })
})

describe('a question', () => {
  test('is asked in the name of the plugin, and answered', async () => {
    const { effects, lease, asked } = setUp()
    serve(lease.served, callOf(effects, { otherwise: 'ask' }))
    const { opaqueId, ...first } = (await lease.call('ask', QUESTION)) as { opaqueId: string }
    expect(first).toEqual({ outcome: 'waiting', message: null })
    expect(asked[0]?.question).toEqual({ pluginId: 'dev.example.tool', ...QUESTION })
    const waiting = lease.call('answer', { opaqueId, waitMs: 1000 })
    asked[0]?.answer({ granted: true })
    expect(await waiting).toEqual({ outcome: 'granted', message: null })
  })

  test('that is rejected says what the person wrote', async () => {
    const { effects, lease, asked } = setUp()
    serve(lease.served, callOf(effects, { otherwise: 'ask' }))
    const { opaqueId } = (await lease.call('ask', QUESTION)) as { opaqueId: string }
    const waiting = lease.call('answer', { opaqueId, waitMs: 1000 })
    asked[0]?.answer({ granted: false, message: 'not today' })
    expect(await waiting).toEqual({ outcome: 'refused', message: 'not today' })
  })

  test('is asked of nobody where a rule allows or denies', async () => {
    const { effects, lease, asked } = setUp()
    const end = serve(lease.served, callOf(effects))
    expect(await lease.call('ask', QUESTION)).toMatchObject({ outcome: 'granted' })
    end()
    serve(lease.served, callOf(effects, { denied: ['ls'] }))
    expect(await lease.call('ask', QUESTION)).toMatchObject({ outcome: 'refused', message: 'A permission rule denies it.' })
    expect(asked).toEqual([])
  })

  test('belongs to a tool call', async () => {
    const { lease } = setUp()
    lease.served.heard('ses_1')
    await expect(lease.call('ask', { ...QUESTION, sessionId: 'ses_1' })).rejects.toThrow('in no tool call')
  })

  test('ends with its call, with its time, when it is withdrawn, and with the lease', async () => {
    const { effects, lease, asked } = setUp()
    const call = new AbortController()
    serve(lease.served, callOf(effects, { otherwise: 'ask', signal: call.signal }))
    const ask = async () => ((await lease.call('ask', QUESTION)) as { opaqueId: string }).opaqueId
    const late = await ask()
    effects.clock.advance(LIMITS.pluginAsks.time)
    expect(await lease.call('answer', { opaqueId: late, waitMs: 1000 })).toEqual({
      outcome: 'expired',
      message: 'Nobody answered in time.',
    })
    expect(await lease.call('withdraw', { opaqueId: await ask() })).toEqual({ withdrawn: true })
    const aborted = await ask()
    await ask()
    call.abort()
    expect(await lease.call('answer', { opaqueId: aborted, waitMs: 1000 })).toMatchObject({ outcome: 'refused' })
    await lease.revoke()
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true, true, true])
  })
})
