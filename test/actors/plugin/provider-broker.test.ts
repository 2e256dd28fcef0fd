import { describe, expect, test } from 'vitest'
import { providerBroker } from '../../../src/actors/plugin/brokers/provider-access.broker.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { TokenUsage } from '../../../src/protocol/message/token-usage.js'
import type { BrokerModel, BrokerPlace, PluginModelDoor } from '../../../src/ports/broker-doors.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { callOf, leaseOf, serve, storeWith } from './fake-lease.js'

const USAGE: TokenUsage = { input: 10, output: 5, reasoning: 1, cache: { read: 4, write: 0 } }

interface Asked {
  readonly question: Parameters<BrokerModel['generate']>[0]
  readonly signal: AbortSignal
  say(text: string): void
  finish(): void
  fail(error: Error): void
}

function setUp(budget = { tokens: 1000, cost: 1 }) {
  const effects = createFakeEffects()
  const store = storeWith(effects, ['ses_1'])
  const asked: Asked[] = []
  const spent: Parameters<PluginModelDoor['spend']>[0][] = []
  const places: BrokerPlace[] = []
  let used = { tokens: 0, cost: 0 }
  const door: PluginModelDoor = {
    list: async () => ({ models: [], default: 'svc/offline', small: undefined }),
    async find(place, name) {
      places.push(place)
      return {
        name: name === 'default' ? 'svc/offline' : name,
        costOf: ({ input, output }) => (input + output) / 1000,
        generate: (question, push, signal) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')))
            asked.push({ question, signal, say: push, finish: () => resolve({ reason: 'stop', usage: USAGE }), fail: reject })
          }),
      }
    },
    budget: async () => budget,
    used: () => used,
    spend(use) {
      spent.push(use)
      const { input, output, reasoning, cache } = use.usage
      used = { tokens: used.tokens + input + output + reasoning + cache.read, cost: used.cost + use.cost }
    },
  }
  const broker = providerBroker({ effects, store, models: () => door })
  const lease = leaseOf(effects, ['provider-access', broker])
  /** Until the model is asked. */
  const until = async (count: number) => {
    for (let turn = 0; turn < 100 && asked.length < count; turn++) await Promise.resolve()
    return asked[count - 1] as Asked
  }
  return { effects, lease, asked, spent, places, until }
}

const QUESTION = { messages: [{ role: 'user', text: 'why?' }], system: 'be short' }
const DONE = {
  model: 'svc/offline',
  reason: 'stop',
  usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 1, cachedTokens: 4, cost: 0.015 },
}

describe('a question', () => {
  test('is answered whole, and what it cost is noted on the package and the session', async () => {
    const { effects, lease, until, spent, places } = setUp()
    serve(lease.served, callOf(effects))
    const answer = lease.call('complete', { ...QUESTION, maxOutputTokens: 50 })
    const asked = await until(1)
    expect(asked.question).toEqual({
      messages: [
        { role: 'system', text: 'be short' },
        { role: 'user', content: [{ type: 'text', text: 'why?' }] },
      ],
      maxOutputTokens: 50,
      temperature: undefined,
      asker: 'dev.example.tool',
    })
    asked.say('be')
    asked.say('cause')
    asked.finish()
    expect(await answer).toEqual({ text: 'because', ...DONE })
    expect(spent).toMatchObject([{ pluginId: 'dev.example.tool', sessionId: 'ses_1', usage: USAGE, cost: 0.015 }])
    expect(places).toEqual([{ directory: effects.paths.cwd, sessionId: 'ses_1' }])
    expect(lease.open).toBe(0)
  })

  test('is read while it is answered', async () => {
    const { lease, until } = setUp()
    const { opaqueId } = (await lease.call('open', QUESTION)) as { opaqueId: string }
    const asked = await until(1)
    expect(await lease.call('read', { opaqueId })).toEqual({ text: '', end: null })
    const waiting = lease.call('read', { opaqueId, waitMs: 1000 })
    await Promise.resolve()
    asked.say('one')
    expect(await waiting).toEqual({ text: 'one', end: null })
    asked.say('two')
    asked.finish()
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    expect(await lease.call('read', { opaqueId, waitMs: 1000 })).toEqual({ text: 'two', end: DONE })
    await expect(lease.call('read', { opaqueId })).rejects.toThrow('nothing of the id')
  })

  test('that fails says why, and counts what it may have used', async () => {
    const { lease, until, spent } = setUp()
    const answer = lease.call('complete', QUESTION)
    const asked = await until(1)
    asked.say('x'.repeat(40))
    asked.fail(new Error('the provider is away'))
    await expect(answer).rejects.toThrow('the provider is away')
    expect(spent[0]?.usage.output).toBe(10)
    expect(spent[0]?.usage.input).toBeGreaterThan(0)
  })

  test('whose answer does not end is ended', async () => {
    const { lease, until } = setUp()
    const answer = lease.call('complete', QUESTION)
    const asked = await until(1)
    asked.say('x'.repeat(LIMITS.pluginModels.answerBytes + 1))
    await expect(answer).rejects.toThrow('longer than an answer may be')
  })

  test('ends when its time is over, when it is closed, and with the lease', async () => {
    const { effects, lease, until, asked } = setUp()
    const first = lease.call('complete', QUESTION)
    await until(1)
    effects.clock.advance(LIMITS.pluginModels.time)
    await expect(first).rejects.toThrow('takes too long')
    const { opaqueId } = (await lease.call('open', QUESTION)) as { opaqueId: string }
    await until(2)
    expect(await lease.call('close', { opaqueId })).toEqual({ closed: true })
    await lease.call('open', QUESTION)
    await until(3)
    await lease.revoke()
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
  })

  test('is one of so many at a time', async () => {
    const { lease } = setUp({ tokens: 100_000, cost: 100 })
    for (let left = LIMITS.pluginModels.running; left > 0; left--) await lease.call('open', QUESTION)
    await expect(lease.call('open', QUESTION)).rejects.toThrow('at most')
  })
})

describe('the budget', () => {
  test('is told, and refuses when it is used up', async () => {
    const { lease, until } = setUp({ tokens: 20, cost: 1 })
    const answer = lease.call('complete', QUESTION)
    const asked = await until(1)
    expect(asked.question.maxOutputTokens).toBe(20)
    asked.finish()
    await answer
    expect(await lease.call('budget')).toEqual({
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      tokens: { limit: 20, used: 20 },
      cost: { limit: 1, used: 0.015 },
    })
    await expect(lease.call('complete', QUESTION)).rejects.toThrow('20 of the 20 tokens')
    await expect(lease.call('open', QUESTION)).rejects.toThrow('20 of the 20 tokens')
  })

  test('is not used twice by what is asked at the same time', async () => {
    const { lease, until, asked } = setUp({ tokens: 100, cost: 1 })
    const both = [lease.call('open', { ...QUESTION, maxOutputTokens: 50 }), lease.call('open', { ...QUESTION, maxOutputTokens: 90 })]
    await Promise.all(both)
    await until(2)
    const [first = 0, second = 0] = asked.map(({ question }) => question.maxOutputTokens)
    expect(first).toBe(50)
    expect(first + second).toBeLessThan(100)
    const later = setUp({ tokens: 20, cost: 1 })
    await later.lease.call('open', QUESTION)
    await expect(later.lease.call('complete', QUESTION)).rejects.toThrow('held by its questions')
    ;(await later.until(1)).fail(new Error('away'))
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    await expect(later.lease.call('complete', QUESTION)).rejects.toThrow('of the 20 tokens')
  })
})
