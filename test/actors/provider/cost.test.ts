// Holds sessions-events §3.3; subsystems c, c.10.
import { expect, it } from 'vitest'
import { stepCost } from '../../../src/actors/provider/catalog/cost.js'
import type { ModelCost, ProviderModel } from '../../../src/protocol/provider/provider.js'

const model = (cost: ModelCost): ProviderModel => ({
  id: 'm',
  providerId: 'p',
  name: 'm',
  api: {},
  releaseDate: '',
  status: 'active',
  capabilities: {},
  cost,
  limit: { context: 0, output: 0 },
  options: {},
  headers: {},
})
const base = { input: 1, output: 10, cache: { read: 0.1, write: 2 } }
const tiered = { ...base, experimentalOver200k: { input: 2, output: 20, cache: { read: 0.2, write: 4 } } }
const usage = (input: number, output: number, rest: { reasoning?: number; read?: number; write?: number } = {}) => ({
  input,
  output,
  reasoning: rest.reasoning ?? 0,
  cache: { read: rest.read ?? 0, write: rest.write ?? 0 },
})

it.each([
  ['input and output at their rates', base, usage(1_000_000, 100_000), 2],
  ['reasoning at the rate of output', base, usage(0, 50_000, { reasoning: 50_000 }), 1],
  ['cache reads and writes at theirs', base, usage(0, 0, { read: 1_000_000, write: 1_000_000 }), 2.1],
  ['the upper tier only beyond 200,000 tokens', tiered, usage(200_000, 0), 0.2],
  ['the upper tier when input and cache reads together exceed it', tiered, usage(100_000, 0, { read: 100_001 }), 0.2200002],
  [
    'the lower cache rates in a tier without its own',
    { ...base, experimentalOver200k: { input: 2, output: 20 } },
    usage(300_000, 0, { write: 1_000_000 }),
    2.6,
  ],
  ['nothing for a rate that is not finite', { ...base, input: Number.NaN }, usage(1, 1), 0],
])('charges %s', (_, cost, tokens, expected) => {
  expect(stepCost(model(cost), tokens)).toBeCloseTo(expected, 10)
})
