/** Models as plugins of others ask them (`BrokerDoors.models`): by the connections of the session or the directory, within the package's budget. */
import { LIMITS } from '../../protocol/limits.js'
import type { ModelRef } from '../../protocol/message/message.js'
import { SvcError } from '../../protocol/errors.js'
import { isRecord } from '../../protocol/text/json.js'
import type { BrokerPlace, ModelBudget, PluginModelDoor } from '../../ports/broker-doors.js'
import { budgetOf, tokensOf } from '../plugin/brokers/models/model-budget.js'
import { stepCost } from '../provider/catalog/cost.js'
import type { Rows, Sources } from '../session/state/core.js'
import { askModel } from './model-question.js'
import { writeNotes } from '../session/state/session-notes.js'

type Core = Pick<Rows, 'store' | 'journal' | 'effects'> & Pick<Sources, 'providers' | 'configs'>

const USE = 'model-use'

export function createPluginModelDoor(core: Core): PluginModelDoor {
  const { providers, store, journal, configs, effects } = core
  const used = (pluginId: string, day: string): ModelBudget => {
    const data = store.pluginRows.get(pluginId, USE, day)?.data
    return isRecord(data) ? { tokens: Number(data['tokens']), cost: Number(data['cost']) } : { tokens: 0, cost: 0 }
  }
  return {
    used,
    async list({ directory, sessionId }) {
      const workspaceId = workspaceOf(core, sessionId)
      const { providers: usable } = await providers.configured(directory, sessionId)
      const small = await providers.smallModel(directory, workspaceId, sessionId)
      return {
        models: usable.flatMap((provider) =>
          Object.values(provider.models).map(({ id, name, limit, cost }) => ({
            model: `${provider.id}/${id}`,
            name,
            contextTokens: limit.context,
            outputTokens: limit.output,
            inputCost: cost.input,
            outputCost: cost.output,
          })),
        ),
        default: nameOf(await usualModel(core, { directory, sessionId })),
        small: small && nameOf(small),
      }
    },
    async find(place, name) {
      const ref = await refOf(core, place, name)
      const workspaceId = workspaceOf(core, place.sessionId)
      await providers.check(place.directory, ref, workspaceId, place.sessionId)
      const resolved = await providers.resolve(place.directory, ref, workspaceId, place.sessionId)
      return {
        name: nameOf(ref),
        costOf: (usage) => stepCost(resolved.model, usage),
        async generate({ asker, ...question }, push, signal) {
          const sessionId = place.sessionId ?? `plugin:${asker}`
          return askModel(resolved, { sessionId, directory: place.directory, ref }, { ...question, push }, signal)
        },
      }
    },
    async budget(pluginId) {
      const { plugins } = await configs.load(effects.paths.config)
      const entry = isRecord(plugins) ? plugins[pluginId] : undefined
      const options = isRecord(entry) ? entry['options'] : undefined
      return budgetOf(isRecord(options) ? options['models'] : undefined)
    },
    spend({ pluginId, day, sessionId, usage, cost }) {
      journal.commit('process', (tx) => {
        const before = used(pluginId, day)
        const data = { tokens: before.tokens + tokensOf(usage), cost: before.cost + cost }
        store.pluginRows.put(pluginId, USE, { id: day, group: '', sort: effects.clock.now(), data })
        const old = store.pluginRows.list(pluginId, USE, { order: 'desc' }).slice(LIMITS.pluginModels.days)
        for (const { id } of old) store.pluginRows.delete(pluginId, USE, id)
        const session = sessionId === undefined ? undefined : store.sessions.get(sessionId)
        if (session !== undefined) writeNotes(core, tx, session.id, { pluginUsage: usageWith(session['pluginUsage'], { usage, cost }) })
      })
    },
  }
}

/** What plugins have asked in a session, with one answer more. */
function usageWith(known: unknown, { usage, cost }: Pick<Parameters<PluginModelDoor['spend']>[0], 'usage' | 'cost'>) {
  const before = isRecord(known) ? known : {}
  const tokens = isRecord(before['tokens']) ? before['tokens'] : {}
  const cache = isRecord(tokens['cache']) ? tokens['cache'] : {}
  const sum = (value: unknown, more: number) => (typeof value === 'number' ? value : 0) + more
  return {
    cost: sum(before['cost'], cost),
    tokens: {
      input: sum(tokens['input'], usage.input),
      output: sum(tokens['output'], usage.output),
      reasoning: sum(tokens['reasoning'], usage.reasoning),
      cache: { read: sum(cache['read'], usage.cache.read), write: sum(cache['write'], usage.cache.write) },
    },
  }
}

async function refOf(core: Core, place: BrokerPlace, name: string): Promise<ModelRef> {
  if (name === 'default') return usualModel(core, place)
  if (name === 'small')
    return (
      (await core.providers.smallModel(place.directory, workspaceOf(core, place.sessionId), place.sessionId)) ?? usualModel(core, place)
    )
  const slash = name.indexOf('/')
  if (slash < 1 || slash === name.length - 1)
    throw new SvcError('request.unprocessable', `"${name.slice(0, 200)}" is no model: "provider/model", "default" or "small"`)
  return { providerId: name.slice(0, slash), id: name.slice(slash + 1) }
}

async function usualModel(core: Core, { directory, sessionId }: BrokerPlace): Promise<ModelRef> {
  const session = sessionId === undefined ? undefined : core.store.sessions.get(sessionId)
  return session?.model ?? core.providers.defaultModel(directory, session?.workspaceId, sessionId)
}

function workspaceOf({ store }: Pick<Core, 'store'>, sessionId: string | undefined): string | undefined {
  return sessionId === undefined ? undefined : store.sessions.get(sessionId)?.workspaceId
}

function nameOf({ providerId, id }: ModelRef): string {
  return `${providerId}/${id}`
}
