import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import type { ModelCost, ProviderModel } from '../../../protocol/provider/provider.js'

const TIER_FROM = 200_000
const PER = 1_000_000

/**
 * USD of one model step (subsystems c.10, sessions-events §3.3): tokens times the model's rates per million, reasoning
 * at the rate of output; beyond 200,000 tokens of input and cache reads the upper tier applies where there is one.
 */
export function stepCost(model: ProviderModel, usage: TokenUsage): number {
  const rates = ratesFor(model.cost, usage)
  const cost =
    (usage.input * rates.input +
      (usage.output + usage.reasoning) * rates.output +
      usage.cache.read * rates.cacheRead +
      usage.cache.write * rates.cacheWrite) /
    PER
  return Number.isFinite(cost) ? cost : 0
}

interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

function ratesFor(cost: ModelCost, usage: TokenUsage): Rates {
  const base = { input: cost.input, output: cost.output, cacheRead: cost.cache.read, cacheWrite: cost.cache.write }
  const tier = cost.experimentalOver200k
  if (tier === undefined || usage.input + usage.cache.read <= TIER_FROM) return base
  const { read, write } = tier.cache ?? cost.cache
  return { input: tier.input, output: tier.output, cacheRead: read, cacheWrite: write }
}
