import { describe, expect, test } from 'vitest'
import { budgetOf, dayOf, estimatedUsage, spentReason, tokensOf } from '../../../src/actors/plugin/brokers/models/model-budget.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const { tokensPerDay, costPerDay } = LIMITS.pluginModels

describe('the budget of a package', () => {
  test.each([
    [undefined, { tokens: tokensPerDay, cost: costPerDay }],
    [null, { tokens: tokensPerDay, cost: costPerDay }],
    [{}, { tokens: tokensPerDay, cost: costPerDay }],
    [{ tokensPerDay: 5 }, { tokens: 5, cost: costPerDay }],
    [
      { costPerDay: 0.5, tokensPerDay: 0 },
      { tokens: 0, cost: 0.5 },
    ],
    [{ costPerDay: 'much' }, { tokens: tokensPerDay, cost: 0 }],
    [{ costPerDay: -1 }, { tokens: tokensPerDay, cost: 0 }],
    ['much', { tokens: 0, cost: 0 }],
  ])('as its entry says, %j, is %j', (written, budget) => {
    expect(budgetOf(written)).toEqual(budget)
  })

  test('is used up by tokens or by what they cost; a model that costs nothing is not stopped by a cost of nothing', () => {
    const limit = { tokens: 100, cost: 1 }
    expect(spentReason(limit, { tokens: 99, cost: 0.9 })).toBeUndefined()
    expect(spentReason(limit, { tokens: 100, cost: 0 })).toContain('100 of the 100 tokens')
    expect(spentReason(limit, { tokens: 1, cost: 1 })).toContain('1.0000 of the 1')
    expect(spentReason({ tokens: 100, cost: 0 }, { tokens: 1, cost: 0 })).toBeUndefined()
    expect(spentReason({ tokens: 0, cost: 1 }, { tokens: 0, cost: 0 })).toContain('tokens')
  })

  test('is of a day of UTC, counts all tokens, and guesses those that nobody tells', () => {
    expect(dayOf(Date.UTC(2026, 0, 31, 23, 59))).toBe('2026-01-31')
    expect(tokensOf({ input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } })).toBe(15)
    expect(tokensOf(estimatedUsage(9, 4))).toBe(4)
  })
})
