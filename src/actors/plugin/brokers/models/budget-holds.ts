/** What questions under way may still use, of each package: of two that are asked at once, the second has what the first leaves. */
import type { ModelBudget } from '../../../../ports/broker-doors.js'

export interface BudgetHolds {
  of(pluginId: string): ModelBudget
  /** Answers the function that gives it back. */
  hold(pluginId: string, most: ModelBudget): () => void
}

export function createBudgetHolds(): BudgetHolds {
  const held = new Map<string, Set<ModelBudget>>()
  return {
    of: (pluginId) =>
      [...(held.get(pluginId) ?? [])].reduce((sum, { tokens, cost }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }), {
        tokens: 0,
        cost: 0,
      }),
    hold(pluginId, most) {
      const mine = { ...most }
      const own = held.get(pluginId) ?? new Set()
      held.set(pluginId, own.add(mine))
      return () => {
        own.delete(mine)
        if (own.size === 0 && held.get(pluginId) === own) held.delete(pluginId)
      }
    },
  }
}
