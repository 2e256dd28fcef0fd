import { expect, test } from 'vitest'
import { modelUse } from '../../../src/actors/plugin/brokers/models/model-use.js'
import { createByteQuota } from '../../../src/actors/plugin/brokers/network/byte-quota.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { ModelBudget } from '../../../src/ports/broker-doors.js'
import { createFakeEffects } from '../../fakes/effects.js'

test('tokens and cost of a day stand against a budget that is read for the next question, and keeps its place where it cannot be read', async () => {
  const effects = createFakeEffects()
  const budgets: (ModelBudget | undefined)[] = [{ tokens: 100, cost: 2 }, undefined]
  const asked: string[] = []
  const of = modelUse({
    effects,
    models: () => ({
      async budget() {
        const budget = budgets.shift()
        if (budget === undefined) throw new Error('it cannot be read')
        return budget
      },
      used(pluginId, day) {
        asked.push(`${pluginId} ${day}`)
        return { tokens: 40, cost: 0.5 }
      },
    }),
  })
  const limits = () => of('dev.example.a').map(({ unit, used, limit, per }) => [unit, used, limit, per])
  expect(limits()).toEqual([
    ['tokens', 40, undefined, 'day'],
    ['cost', 0.5, undefined, 'day'],
  ])
  const known = [
    ['tokens', 40, 100, 'day'],
    ['cost', 0.5, 2, 'day'],
  ]
  await expect.poll(limits).toEqual(known)
  expect(limits()).toEqual(known)
  expect(asked[0]).toBe(`dev.example.a ${new Date(effects.clock.now()).toISOString().slice(0, 10)}`)
})

test('bytes of the network are those of the minute that runs', () => {
  const { clock } = createFakeEffects()
  const quota = createByteQuota(clock)
  const used = () => quota.of('dev.example.a').used
  expect(used()).toBe(0)
  quota.spend('dev.example.a', 300)
  quota.spend('dev.example.a', 200)
  quota.spend('dev.example.b', 7)
  expect(quota.of('dev.example.a')).toEqual({
    capability: 'network',
    unit: 'bytes',
    used: 500,
    limit: LIMITS.pluginNetwork.bytesPerMinute,
    per: 'minute',
  })
  clock.advance(LIMITS.brokers.minute + 1)
  expect(used()).toBe(0)
})
