/** What a package may use of models in a day, and what is left of it (UTC). Pure. */
import { LIMITS } from '../../../../protocol/limits.js'
import type { TokenUsage } from '../../../../protocol/message/token-usage.js'
import { isRecord } from '../../../../protocol/text/json.js'
import type { ModelBudget } from '../../../../ports/broker-doors.js'

/** `YYYY-MM-DD` of a moment, UTC. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/** All a model has read and written, what it thought and what came from a cache included. */
export function tokensOf({ input, output, reasoning, cache }: TokenUsage): number {
  return input + output + reasoning + cache.read + cache.write
}

/** What the entry of a package says; a value that cannot be read leaves nothing. */
export function budgetOf(written: unknown): ModelBudget {
  const { tokensPerDay, costPerDay } = LIMITS.pluginModels
  if (written === undefined || written === null) return { tokens: tokensPerDay, cost: costPerDay }
  const { tokensPerDay: tokens = tokensPerDay, costPerDay: cost = costPerDay } = isRecord(written)
    ? written
    : { tokensPerDay: 0, costPerDay: 0 }
  return { tokens: amount(tokens), cost: amount(cost) }
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

/** Why nothing may be asked any more today; undefined = there is something left. */
export function spentReason(limit: ModelBudget, used: ModelBudget): string | undefined {
  if (used.tokens >= limit.tokens) return `the package has used ${used.tokens} of the ${limit.tokens} tokens it may use in a day`
  if (used.cost > limit.cost || (used.cost === limit.cost && limit.cost > 0))
    return `the package has spent ${used.cost.toFixed(4)} of the ${limit.cost} it may spend in a day`
  return undefined
}

const CHARACTERS_PER_TOKEN = 4

/** What a question has used whose provider did not come to say so. */
export function estimatedUsage(asked: number, answered: number): TokenUsage {
  const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN)
  return { input: tokens(asked), output: tokens(answered), reasoning: 0, cache: { read: 0, write: 0 } }
}
