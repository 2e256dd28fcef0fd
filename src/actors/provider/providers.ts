/**
 * Providers and models as the rest of the service sees them (subsystems c.1–c.4; http-contract §2.4).
 *
 * I1 Nothing is sent anywhere before a provider with `discoverModels` is listed or asked for, or a model generates; the source of
 *    the catalog is asked when a vendor of it can be used, or when the installation says so.
 * I2 Keys are read when they are needed and appear in no record, message or log.
 * I3 An adapter is made once per provider configuration; a bounded number per plugin is kept.
 */
import { nextTurn } from '../../kernel/pause.js'
import { SvcError } from '../../protocol/errors.js'
import type { AuthInfo } from '../../protocol/provider/connection.js'
import type { Provider } from '../../protocol/provider/provider.js'
import { EXTERNAL, EXTERNAL_PLUGIN } from '../../protocol/session/external-provider.js'
import type { Effects } from '../../ports/effects.js'
import type { Providers } from '../../ports/facades.js'
import { publicRecord } from '../../protocol/text/secrets.js'
import { createAdapterCache } from './adapter-cache.js'
import { type Catalog, type CatalogProvider, defaultModelOf, isOffered, missingAdapter } from './catalog/catalog.js'
import type { CatalogModel } from './catalog/models.js'
import { type CatalogsDeps, createCatalogs } from './catalogs.js'
import { chooseDefault, isReachable } from './default-model.js'
import { fitAdapter } from './fit.js'
import { findModels } from './found-models.js'
import { keyOf } from './keys.js'
import { lentAdapter } from './leases/lent-keys.js'
import { obstacle } from './obstacle.js'
import { createReach } from './reach.js'
import type { Renewal } from './sign-in/tokens.js'
import { type Models, refuseUnknownVariant } from './unknown.js'
import { workerModel } from './worker-model.js'

export interface ProvidersDeps extends CatalogsDeps {
  readonly effects: Pick<Effects, 'clock' | 'fetch' | 'env' | 'log'>
  /** Names of the adapters that plugins bring somewhere; absent = those of the installation are all. */
  readonly adapters?: () => ReadonlySet<string>
  /** Renews tokens of sign-ins; absent = nobody does. */
  readonly renewal?: Renewal
}

/** Provider options that are not request options. */
const CLIENT_OPTIONS = new Set(['baseURL', 'apiKey', 'headers', 'timeout', 'script'])

export function createProviders(deps: ProvidersDeps): Providers {
  const { effects, contributions, adapters, installation = '', renewal, leases } = deps
  const catalogs = createCatalogs(deps)
  const models = findModels(effects)
  const reach = createReach({ effects, contributions, catalogs, models })
  const madeOf = createAdapterCache((provider) => keyOf(provider, effects.env), renewal)
  const adapterOf = (provider: CatalogProvider) =>
    leases !== undefined && provider.stored?.isLent === true ? lentAdapter(provider, leases, madeOf) : madeOf(provider)
  const isUsable = (provider: CatalogProvider) => obstacle(provider, effects.env) === undefined

  /** Why a credential would never be used. */
  const unfit = async (provider: CatalogProvider, type: AuthInfo['type'] | undefined): Promise<string | undefined> => {
    const { id, npm, contribution } = provider
    if (contribution === undefined && adapters?.().has(npm) !== true) return missingAdapter(provider, await contributions(installation))
    if (type !== 'oauth' || contribution?.takesTokens === true) return undefined
    return `The adapter of provider "${id}" takes keys and no OAuth tokens.`
  }

  const toRecord = (provider: CatalogProvider, models: Models): Provider => {
    const { id, name, env, options } = provider
    const records = Object.fromEntries(recordsOf(models).map((record) => [record.id, toShown(record)]))
    return { id, name, source: sourceOf(provider, effects.env), env: [...env], options: publicRecord(options), models: records }
  }

  return {
    async list(directory, sessionId) {
      const catalog = await catalogs.loadNewest(directory, undefined, sessionId)
      await nextTurn() // it may have been read just now
      const found = await Promise.all(catalog.providers.map(async (provider) => ({ provider, all: await models.all(provider, catalog) })))
      const listed = await inTurns(found, ({ provider, all }) => ({ provider, record: toRecord(provider, all) }))
      const isThere = ({ provider, record }: (typeof listed)[number]) => !provider.isLocal || Object.keys(record.models).length > 0
      const all = listed.map(({ record }) => record)
      const connected = listed.filter((entry) => catalogs.isConnected(entry.provider) && isThere(entry)).map(({ record }) => record.id)
      return { all, default: defaultsOf(all), connected }
    },
    async configured(directory, sessionId) {
      const catalog = await catalogs.loadNewest(directory, undefined, sessionId)
      const records = await Promise.all(
        catalog.providers.filter(isUsable).map(async (provider) => {
          const offered = [...(await models.all(provider, catalog))].filter(([, model]) => isOffered(model.record) && isReachable(model))
          return toRecord(provider, new Map(offered))
        }),
      )
      const usable = records.filter(({ models }) => Object.keys(models).length > 0)
      return { providers: usable, default: defaultsOf(usable) }
    },
    defaultModel: async (directory, workspaceId, sessionId) =>
      chooseDefault(await catalogs.load(directory, workspaceId, sessionId), { env: effects.env, models, tellOnce: catalogs.tellOnce }),
    async smallModel(directory, workspaceId, sessionId) {
      const catalog = await catalogs.load(directory, workspaceId, sessionId)
      return models.named(catalog, catalog.smallModel)
    },
    async check(directory, ref, workspaceId, sessionId) {
      const { model } = await reach({ directory, workspaceId, sessionId }, ref)
      refuseUnknownVariant({ ref, model: model.record })
    },
    async endpoint(providerId, type) {
      const { providers } = await catalogs.configured(installation)
      const provider = providers.find(({ id }) => id === providerId)
      if (provider !== undefined) {
        const reason = await unfit(provider, type)
        if (reason !== undefined) throw new SvcError('request.unprocessable', reason, { providerId })
        return provider.contribution?.administration?.keeper ?? provider.baseURL
      }
      const message = `There is no provider "${providerId}" in the configuration of this installation. Configure it there, so that its key has an address to go to.`
      throw new SvcError('resource.not_found', message, { providerId })
    },
    async hasUsable() {
      const { providers, localModels } = await catalogs.read(installation)
      return providers.some((provider) => provider.source !== 'builtin' && (localModels || !provider.isLocal) && isUsable(provider))
    },
    async connectable() {
      const { providers } = await catalogs.configured(installation)
      return providers.flatMap(({ id, auth, env, source, contribution }) =>
        contribution === undefined || source === 'builtin'
          ? []
          : [{ id, hasKey: env.length > 0, isSecret: auth !== 'none', takesTokens: contribution.takesTokens === true }],
      )
    },
    async resolve(directory, ref, workspaceId, sessionId) {
      const worker = (await contributions(directory)).find(({ worker }) => worker?.id === ref.providerId)?.worker
      if (worker !== undefined) return workerModel(worker, ref)
      if (ref.providerId === EXTERNAL)
        throw new SvcError(
          'request.unprocessable',
          `The agent "${ref.id}" cannot answer: the plugin ${EXTERNAL_PLUGIN} is switched off, or did not start. GET /v2/capabilities tells which.`,
          { pluginId: EXTERNAL_PLUGIN },
        )
      const { catalog, provider, model, reached } = await reach({ directory, workspaceId, sessionId }, ref)
      const variant = ref.variant === undefined ? {} : model.variants[ref.variant]
      return {
        ref,
        model: model.record,
        adapter: fitAdapter(adapterOf(reached), model, reached),
        options: { ...verbosityFor(reached, catalog), ...requestOptions(provider.options), ...model.options, ...variant },
      }
    },
  }
}

/** Models that are shown in one turn. */
const SHOWN_AT_ONCE = 1000

/** Adapters whose API can be told how much to write; others would refuse the field, or never look at it. */
const TOLD_VERBOSITY: ReadonlySet<string> = new Set(['@ai-sdk/openai', '@openrouter/ai-sdk-provider'])

/** The least of all options. A provider that a plugin brings goes by its own id, and is told. */
function verbosityFor({ id, npm }: Pick<CatalogProvider, 'id' | 'npm'>, { textVerbosity }: Pick<Catalog, 'textVerbosity'>) {
  const isTold = textVerbosity !== undefined && (TOLD_VERBOSITY.has(npm) || npm === id)
  return isTold ? { textVerbosity } : {}
}

/** Where a provider comes from, for clients (http-contract §2.4). */
function sourceOf(provider: CatalogProvider, env: Effects['env']): Provider['source'] {
  if (provider.source !== 'offered') return provider.source
  if (provider.stored !== undefined) return 'api'
  return keyOf(provider, env) === undefined ? 'custom' : 'env'
}

/** Headers are sent and never shown. */
function toShown(record: CatalogModel['record']): CatalogModel['record'] {
  const { variants } = record
  const shown = variants && Object.fromEntries(Object.entries(variants).map(([name, options]) => [name, publicRecord(options)]))
  return { ...record, headers: {}, ...(shown && { variants: shown }) }
}

/** What is made of providers with so many models that others want their turn in between. */
async function inTurns<One extends { readonly all: Models }, T>(found: readonly One[], make: (one: One) => T): Promise<T[]> {
  const made: T[] = []
  let models = 0
  for (const one of found) {
    made.push(make(one))
    models += one.all.size
    if (models < SHOWN_AT_ONCE) continue
    models = 0
    await nextTurn()
  }
  return made
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
