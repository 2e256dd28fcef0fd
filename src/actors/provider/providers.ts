/**
 * Providers and models as the rest of the service sees them (subsystems c.1–c.4; http-contract §2.4).
 *
 * I1 Nothing is sent anywhere before a provider with `discoverModels` is listed or asked for, or a model generates.
 * I2 Keys are read when they are needed and appear in no record, message or log.
 * I3 An adapter is made once per provider configuration; at most `KEPT_ADAPTERS` per plugin are kept.
 */
import type { ConfigDocument } from '../../protocol/resource/config.js'
import { SvcError } from '../../protocol/errors.js'
import type { ModelRef } from '../../protocol/message/message.js'
import type { Provider } from '../../protocol/provider/provider.js'
import type { Effects } from '../effects.js'
import type { Configs, Providers } from '../facades.js'
import type { ProviderContribution } from '../plugin/native/native.js'
import { createLru, type Lru } from '../../protocol/lru.js'
import type { ProviderAdapter } from './adapter.js'
import {
  type Catalog,
  type CatalogProvider,
  defaultModelOf,
  isOffered,
  missingAdapter,
  readCatalog,
  withDiscovered,
} from './catalog/catalog.js'
import { createDiscovery } from './catalog/discover.js'
import { fitAdapter } from './fit.js'
import { refuseConnection } from './connections.js'
import { createModelLimits } from './catalog/model-limits.js'
import { type CatalogModel, makeModel } from './catalog/models.js'
import { publicRecord } from '../../protocol/secrets.js'

export interface ProvidersDeps {
  readonly effects: Pick<Effects, 'clock' | 'fetch' | 'env' | 'log'>
  readonly configs: Pick<Configs, 'load'>
  /** What plugins contribute in a directory: the same list for as long as nothing changes. */
  readonly contributions: (directory: string) => readonly ProviderContribution[] | Promise<readonly ProviderContribution[]>
}

const OFFLINE: ModelRef = { providerId: 'svc', id: 'offline' }
const KEPT_ADAPTERS = 64
/** Problems in the log; the same provider is in the configuration of every directory. */
const TOLD = 256
const NAMED_IN_ERRORS = 20
/** Provider options that are not request options. */
const CLIENT_OPTIONS = new Set(['baseURL', 'apiKey', 'headers', 'timeout', 'script'])

type Models = ReadonlyMap<string, CatalogModel>

export function createProviders({ effects, configs, contributions }: ProvidersDeps): Providers {
  const discovery = createDiscovery(effects)
  const withLimits = createModelLimits(effects)
  const told = createLru<string, true>(TOLD)
  const catalogOf = createCatalogCache(({ providers }, from) => {
    for (const provider of providers) {
      if (provider.contribution !== undefined) continue
      const problem = missingAdapter(provider, from)
      if (told.get(problem) === undefined) effects.log.warn('a provider has no adapter', { providerId: provider.id, problem })
      told.set(problem, true)
    }
  })
  const adapterOf = createAdapterCache((provider) => keyOf(provider, effects.env))
  const load = async (directory: string): Promise<Catalog> => {
    const from = await contributions(directory)
    return catalogOf(await configs.load(directory), from)
  }
  const isUsable = (provider: CatalogProvider) => obstacle(provider, effects.env) === undefined
  const isConnected = (provider: CatalogProvider) =>
    provider.contribution !== undefined && (provider.auth !== 'required' || keyOf(provider, effects.env) !== undefined)

  const discovered = async (provider: CatalogProvider): Promise<readonly string[] | undefined> => {
    if (!provider.discoverModels || provider.baseURL === undefined || !isUsable(provider)) return []
    const { id: providerId, baseURL, headers } = provider
    return discovery.models({ providerId, baseURL, headers, key: keyOf(provider, effects.env) })
  }
  const modelsOf = async (provider: CatalogProvider): Promise<Models> =>
    withLimits(provider, withDiscovered(provider, (await discovered(provider)) ?? []))

  /** A named model; while an endpoint has never told its models, any name is taken at its word. */
  const findModel = async (provider: CatalogProvider, id: string): Promise<CatalogModel | undefined> => {
    const explicit = provider.models.get(id)
    if (explicit !== undefined) return (await withLimits(provider, new Map([[id, explicit]]))).get(id)
    if (!provider.discoverModels) return undefined
    const ids = await discovered(provider)
    return ids === undefined ? makeModel(provider, id, {}) : withDiscovered(provider, ids).get(id)
  }

  const namedModel = async (catalog: Catalog): Promise<ModelRef | undefined> => {
    const slash = catalog.model?.indexOf('/') ?? -1
    if (catalog.model === undefined || slash === -1) return undefined
    const id = catalog.model.slice(slash + 1)
    const provider = catalog.providers.find((candidate) => candidate.id === catalog.model?.slice(0, slash))
    if (provider === undefined || !isUsable(provider) || (await findModel(provider, id)) === undefined) return undefined
    return { providerId: provider.id, id, ...(catalog.variant === undefined ? {} : { variant: catalog.variant }) }
  }

  return {
    async list(directory) {
      const { providers } = await load(directory)
      const all = await Promise.all(providers.map(async (provider) => toRecord(provider, await modelsOf(provider))))
      return { all, default: defaultsOf(all), connected: providers.filter(isConnected).map(({ id }) => id) }
    },
    async configured(directory) {
      const { providers } = await load(directory)
      const records = await Promise.all(
        providers.filter(isUsable).map(async (provider) => {
          const offered = [...(await modelsOf(provider))].filter(([, { record }]) => isOffered(record))
          return toRecord(provider, new Map(offered))
        }),
      )
      const usable = records.filter(({ models }) => Object.keys(models).length > 0)
      return { providers: usable, default: defaultsOf(usable) }
    },
    async defaultModel(directory) {
      const catalog = await load(directory)
      const named = await namedModel(catalog)
      if (named !== undefined) return named
      const candidates = catalog.providers.filter((provider) => provider.source === 'config' && isUsable(provider))
      for (const provider of candidates) {
        const id = defaultModelOf(recordsOf(await modelsOf(provider)))
        if (id !== undefined) return { providerId: provider.id, id }
      }
      return OFFLINE
    },
    async resolve(directory, ref) {
      refuseConnection(ref)
      const catalog = await load(directory)
      const provider = catalog.providers.find(({ id }) => id === ref.providerId)
      if (provider === undefined) throw unknownProvider(ref.providerId, catalog)
      const reason = obstacle(provider, effects.env, await contributions(directory))
      if (reason !== undefined) throw new SvcError('request.invalid', reason, { providerId: provider.id })
      const model = await findModel(provider, ref.id)
      if (model === undefined) throw unknownModel(provider, ref.id, await modelsOf(provider))
      const variant = ref.variant === undefined ? {} : model.variants[ref.variant]
      return {
        ref,
        model: model.record,
        adapter: fitAdapter(adapterOf(provider), model),
        options: { ...requestOptions(provider.options), ...model.options, ...variant },
      }
    },
  }
}

/** The key of a provider, from the first of its environment variables that is set, else from the configuration. */
function keyOf({ auth, env, configuredKey }: CatalogProvider, values: Effects['env']): string | undefined {
  if (auth === 'none') return undefined
  for (const name of env) {
    const value = values[name]
    if (value !== undefined && value !== '') return value
  }
  return configuredKey
}

/** Why a provider cannot be used now, as a sentence; undefined when it can. */
function obstacle(provider: CatalogProvider, env: Effects['env'], contributions: readonly ProviderContribution[] = []): string | undefined {
  const { id, source, baseURL } = provider
  if (provider.contribution === undefined) return missingAdapter(provider, contributions)
  if (source === 'config' && baseURL === undefined) return `Provider "${id}" needs an address: set provider.${id}.options.baseURL.`
  if (provider.auth !== 'required' || keyOf(provider, env) !== undefined) return undefined
  if (provider.env.length === 0) return `Provider "${id}" needs a key: name its environment variable in provider.${id}.env.`
  return `Provider "${id}" needs a key: start the server with ${provider.env.join(' or ')} set.`
}

function unknownProvider(id: string, { providers, switchedOff }: Catalog): SvcError {
  const known = providers.map((provider) => provider.id)
  const what = switchedOff.has(id)
    ? `Provider "${id}" is switched off by enabledProviders or disabledProviders.`
    : `There is no provider "${id}". Known: ${some(known)}.`
  return new SvcError('request.invalid', what, { providerId: id, known })
}

function unknownModel({ id: providerId }: CatalogProvider, id: string, models: Models): SvcError {
  const known = [...models.keys()]
  return new SvcError('request.invalid', `Provider "${providerId}" has no model "${id}". Known: ${some(known)}.`, {
    providerId,
    modelId: id,
    known: known.slice(0, NAMED_IN_ERRORS),
  })
}

function some(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length > NAMED_IN_ERRORS ? `, and ${names.length - NAMED_IN_ERRORS} more` : ''
  return names.slice(0, NAMED_IN_ERRORS).join(', ') + more
}

function toRecord(provider: CatalogProvider, models: Models): Provider {
  const { id, name, source, env, options } = provider
  const records = Object.fromEntries(recordsOf(models).map((record) => [record.id, toShown(record)]))
  return { id, name, source, env: [...env], options: publicRecord(options), models: records }
}

/** Headers are sent and never shown. */
function toShown(record: CatalogModel['record']): CatalogModel['record'] {
  const { variants } = record
  const shown = variants && Object.fromEntries(Object.entries(variants).map(([name, options]) => [name, publicRecord(options)]))
  return { ...record, headers: {}, ...(shown && { variants: shown }) }
}

function recordsOf(models: Models) {
  return Array.from(models.values(), ({ record }) => record)
}

function defaultsOf(providers: readonly Provider[]): Record<string, string> {
  return Object.fromEntries(
    providers.flatMap(({ id, models }) => {
      const model = defaultModelOf(Object.values(models))
      return model === undefined ? [] : [[id, model]]
    }),
  )
}

function requestOptions(options: CatalogProvider['options']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([key]) => !CLIENT_OPTIONS.has(key)))
}

/** Reads a document once for as long as it and the contributions stay the same objects. */
function createCatalogCache(
  onRead: (catalog: Catalog, from: readonly ProviderContribution[]) => void,
): (document: ConfigDocument, from: readonly ProviderContribution[]) => Catalog {
  const catalogs = new WeakMap<ConfigDocument, { readonly from: readonly ProviderContribution[]; readonly catalog: Catalog }>()
  return (document, from) => {
    const known = catalogs.get(document)
    if (known !== undefined && known.from.length === from.length && known.from.every((one, index) => one === from[index]))
      return known.catalog
    const catalog = readCatalog(document, from)
    catalogs.set(document, { from, catalog })
    onRead(catalog, from)
    return catalog
  }
}

/** I3. The adapter of a provider that `obstacle` lets pass. */
function createAdapterCache(key: (provider: CatalogProvider) => string | undefined): (provider: CatalogProvider) => ProviderAdapter {
  const adapters = new WeakMap<ProviderContribution, Lru<string, ProviderAdapter>>()
  return (provider) => {
    const { id: providerId, npm, baseURL, headers, options, compatibility, contribution } = provider
    if (contribution === undefined) throw new SvcError('request.invalid', `Provider "${providerId}" has no adapter.`)
    const kept = adapters.get(contribution) ?? createLru<string, ProviderAdapter>(KEPT_ADAPTERS)
    adapters.set(contribution, kept)
    const identity = JSON.stringify([providerId, npm, provider.auth, provider.env, baseURL, options, compatibility])
    const adapter =
      kept.get(identity) ?? contribution.create({ providerId, npm, baseURL, apiKey: () => key(provider), headers, options, compatibility })
    kept.set(identity, adapter)
    return adapter
  }
}
