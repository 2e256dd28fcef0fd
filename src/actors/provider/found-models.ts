/** The models of a provider: those that are configured, and those its endpoint tells of. */
import type { Effects } from '../../ports/effects.js'
import type { ModelRef } from '../../protocol/message/message.js'
import { type Catalog, type CatalogProvider, withDiscovered } from './catalog/catalog.js'
import { createDiscovery } from './catalog/discover.js'
import { createModelLimits } from './catalog/model-limits.js'
import { type CatalogModel, makeModel } from './catalog/models.js'
import { asSubscribed, keyOf } from './keys.js'
import { obstacle } from './obstacle.js'
import type { Models } from './unknown.js'

export interface FoundModels {
  /** All models for a list; a server nobody configured is asked only where that is allowed. */
  all(provider: CatalogProvider, catalog: Catalog): Promise<Models>
  /** A named model; while an endpoint has never told its models, any name is taken at its word. */
  find(provider: CatalogProvider, id: string): Promise<CatalogModel | undefined>
  /** Of a provider that can be used: `provider/model`. */
  named(catalog: Catalog, name: string | undefined): Promise<ModelRef | undefined>
}

export function findModels(effects: Pick<Effects, 'clock' | 'fetch' | 'env' | 'log'>): FoundModels {
  const discovery = createDiscovery(effects)
  const withLimits = createModelLimits(effects)
  const isUsable = (provider: CatalogProvider) => obstacle(provider, effects.env) === undefined

  const discovered = async (provider: CatalogProvider): Promise<readonly string[] | undefined> => {
    if (!provider.discoverModels || provider.baseURL === undefined || !isUsable(provider)) return []
    const { id: providerId, baseURL, headers } = provider
    return discovery.models({ providerId, baseURL, headers, key: keyOf(provider, effects.env) })
  }
  const modelsOf = async (provider: CatalogProvider, { localModels }: Catalog): Promise<Models> => {
    const ids = provider.isLocal && !localModels ? [] : await discovered(provider)
    return asSubscribed(provider, await withLimits(provider, withDiscovered(provider, ids ?? [])))
  }

  const findModel = async (provider: CatalogProvider, id: string): Promise<CatalogModel | undefined> => {
    const explicit = provider.models.get(id)
    if (explicit !== undefined) return (await withLimits(provider, new Map([[id, explicit]]))).get(id)
    if (!provider.discoverModels) return undefined
    const ids = await discovered(provider)
    return ids === undefined ? makeModel(provider, id, {}) : withDiscovered(provider, ids).get(id)
  }

  const namedModel = async (catalog: Catalog, name: string | undefined): Promise<ModelRef | undefined> => {
    const slash = name?.indexOf('/') ?? -1
    if (name === undefined || slash === -1) return undefined
    const id = name.slice(slash + 1)
    const provider = catalog.providers.find((candidate) => candidate.id === name.slice(0, slash))
    if (provider === undefined || !isUsable(provider) || (await findModel(provider, id)) === undefined) return undefined
    return { providerId: provider.id, id }
  }

  return { all: modelsOf, find: findModel, named: namedModel }
}
