/**
 * What a tenant may use of models in a day (UTC), by the quotas its sessions were made with (subsystems d.3). Counted where a model is asked,
 * whoever asks it for the session: a step, a title, a summary.
 *
 * I1 No model is asked once as much was used as there is; what is under way ends. Of questions that are asked at once each counts what it
 *    sends from the beginning, so that the last of them find less left.
 * I2 What was used stays counted, whatever becomes of the session. What an answer used that ended before its provider could say so is
 *    reckoned by its characters.
 * I3 Tokens are all that a model reads and writes. What a model costs counts where its price is known.
 */
import type { Effects } from '../../ports/effects.js'
import type { ResolvedModel } from '../../ports/facades.js'
import type { GenerateRequest, ProviderAdapter, StreamPart } from '../../ports/provider-adapter.js'
import { LOCAL_TENANT, type Quotas, quotasOf } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { TokenUsage } from '../../protocol/message/token-usage.js'
import type { Session } from '../../protocol/session/session.js'
import { isRecord } from '../../protocol/text/json.js'
import type { Store } from '../../store/store.js'
import { dayOf, estimatedUsage, tokensOf } from '../plugin/brokers/models/model-budget.js'
import { stepCost } from '../provider/catalog/cost.js'

interface ModelQuotaDeps {
  readonly store: Pick<Store, 'pluginRows' | 'transact'>
  readonly effects: Pick<Effects, 'clock'>
}

interface Use {
  readonly tokens: number
  readonly cost: number
}

/** The space of the rows; a kind for each tenant, a row for each day. */
const SPACE = 'svc.tenants'
const NOTHING: Use = { tokens: 0, cost: 0 }
const DAY = 86_400_000
const SECOND = 1000

/** Answers a model that counts for the tenant of the session; throws `quota.exceeded` where nothing is left. */
export function createModelQuota(deps: ModelQuotaDeps): (session: Session, resolved: ResolvedModel) => ResolvedModel {
  const { store, effects } = deps
  const held = new Map<string, Use>()

  function used(tenantId: string): Use {
    const data = store.pluginRows.get(SPACE, tenantId, dayOf(effects.clock.now()))?.data
    return isRecord(data) ? { tokens: Number(data['tokens']), cost: Number(data['cost']) } : NOTHING
  }

  /** I1 */
  function refuseSpent(tenantId: string, { modelTokensPerDay, modelCostPerDay }: Quotas): void {
    const { tokens, cost } = sum(used(tenantId), held.get(tenantId) ?? NOTHING)
    const retryAfterSeconds = Math.ceil((DAY - (effects.clock.now() % DAY)) / SECOND)
    if (modelTokensPerDay !== undefined && tokens >= modelTokensPerDay)
      throw exceeded('modelTokensPerDay', modelTokensPerDay, `${modelTokensPerDay} tokens of models in a day`, retryAfterSeconds)
    if (modelCostPerDay !== undefined && cost >= modelCostPerDay)
      throw exceeded('modelCostPerDay', modelCostPerDay, `models for ${modelCostPerDay} USD in a day`, retryAfterSeconds)
  }

  function hold(tenantId: string, use: Use): () => void {
    held.set(tenantId, sum(held.get(tenantId) ?? NOTHING, use))
    return () => {
      const rest = sum(held.get(tenantId) ?? NOTHING, { tokens: -use.tokens, cost: -use.cost })
      if (rest.tokens > 0) held.set(tenantId, rest)
      else held.delete(tenantId)
    }
  }

  function spend(tenantId: string, use: Use): void {
    const now = effects.clock.now()
    store.transact('process', () => {
      store.pluginRows.put(SPACE, tenantId, { id: dayOf(now), group: '', sort: now, data: sum(used(tenantId), use) })
      const old = store.pluginRows.list(SPACE, tenantId, { order: 'desc' }).slice(LIMITS.pluginModels.days)
      for (const { id } of old) store.pluginRows.delete(SPACE, tenantId, id)
    })
  }

  return (session, resolved) => {
    const { svcTenantId: tenantId = LOCAL_TENANT } = session
    const quotas = quotasOf(session)
    if (tenantId === LOCAL_TENANT && quotas === undefined) return resolved
    const { adapter, model } = resolved
    const useOf = (usage: TokenUsage): Use => ({ tokens: tokensOf(usage), cost: stepCost(model, usage) })
    refuseSpent(tenantId, quotas ?? {})
    const counted: ProviderAdapter = {
      async generate(request, push, signal) {
        refuseSpent(tenantId, quotas ?? {})
        const answer = listenTo(request, push)
        const release = hold(tenantId, useOf(answer.asked()))
        try {
          await adapter.generate(request, answer.push, signal)
        } finally {
          release()
          spend(tenantId, useOf(answer.usage()))
        }
      },
    }
    return { ...resolved, adapter: counted }
  }
}

/** What an answer has used, by what its provider says or by its characters (I2). */
function listenTo({ messages, tools }: GenerateRequest, push: (part: StreamPart) => void) {
  const sent = JSON.stringify(messages).length + JSON.stringify(tools).length
  let received = 0
  let said: TokenUsage | undefined
  return {
    push(part: StreamPart) {
      if (part.type === 'finish') said = part.usage
      else if ('delta' in part) received += part.delta.length
      push(part)
    },
    asked: () => estimatedUsage(sent, 0),
    usage: () => said ?? estimatedUsage(sent, received),
  }
}

function sum(one: Use, other: Use): Use {
  return { tokens: one.tokens + other.tokens, cost: one.cost + other.cost }
}

function exceeded(quota: string, limit: number, sentence: string, retryAfterSeconds: number): SvcError {
  return new SvcError('quota.exceeded', `The quota of this tenant is used up: ${sentence}.`, { quota, limit, retryAfterSeconds })
}
