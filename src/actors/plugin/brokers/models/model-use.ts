/** What packages have used of models on this day, against what they may: for whoever looks, who does not wait for it. */
import { createLru } from '../../../../kernel/lru.js'
import type { ModelBudget, PluginModelDoor } from '../../../../ports/broker-doors.js'
import type { Effects } from '../../../../ports/effects.js'
import type { QuotaUse } from '../quotas.js'
import { dayOf } from './model-budget.js'

/** Packages whose budget is known at the same time. */
const REMEMBERED = 256

interface ModelUseDeps {
  readonly effects: Pick<Effects, 'clock'>
  models(): Pick<PluginModelDoor, 'budget' | 'used'>
}

/** The budget is in the configuration: each question has it read for the next one. */
export function modelUse({ effects, models }: ModelUseDeps): (pluginId: string) => readonly QuotaUse[] {
  const budgets = createLru<string, ModelBudget>(REMEMBERED)
  return (pluginId) => {
    void models()
      .budget(pluginId)
      .then((budget) => budgets.set(pluginId, budget))
      .catch(() => undefined)
    const limit = budgets.get(pluginId)
    const used = models().used(pluginId, dayOf(effects.clock.now()))
    return (['tokens', 'cost'] as const).map((unit) => ({
      capability: 'provider-access',
      unit,
      used: used[unit],
      ...(limit !== undefined && { limit: limit[unit] }),
      per: 'day',
    }))
  }
}
