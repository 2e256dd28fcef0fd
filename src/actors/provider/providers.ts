/**
 * Providers and models as the rest of the service sees them (subsystems c.1–c.4; http-contract §2.4).
 *
 * I1 Nothing is sent anywhere before a provider with `discoverModels` is listed or asked for, or a model generates; the source of
 *    the catalog is asked when a vendor of it can be used, or when the installation says so.
 * I2 Keys are read when they are needed and appear in no record, message or log.
 * I3 An adapter is made once per provider configuration; a bounded number per plugin is kept.
 */
import type { ConfigDocument } from '../../protocol/resource/config.js'
import { SvcError } from '../../protocol/errors.js'
import type { AuthInfo } from '../../protocol/provider/connection.js'
import type { ModelRef } from '../../protocol/message/message.js'
import type { Provider } from '../../protocol/provider/provider.js'
import type { Effects } from '../../ports/effects.js'
import type { Configs, Providers } from '../../ports/facades.js'
import type { ProviderContribution } from '../../ports/plugin.js'
import { createLru } from '../../kernel/lru.js'
import { createAdapterCache } from './adapter-cache.js'
import {
  type Catalog,
  type CatalogProvider,
  defaultModelOf,
  isOffered,
  missingAdapter,
  NOTHING_INSTALLED,
  readCatalog,
  withDiscovered,
} from './catalog/catalog.js'
import { addressVariable, knownVendors, LOCAL_PROVIDERS } from './catalog/known-vendors.js'
import type { Offered } from './catalog/offered.js'
import type { CatalogSource } from './catalog/source.js'
import { type Models, refuseUnknownVariant, unknownModel, unknownProvider } from './unknown.js'
import { createDiscovery } from './catalog/discover.js'
import { fitAdapter } from './fit.js'
import type { CredentialFile } from './credentials/credential-file.js'
import { EMPTY } from './credentials/document.js'
import { asSubscribed, type Installed, keyOf, missingKey, namedConnection, withConnectionKey, withStoredKeys } from './keys.js'
import { signInSettings } from './sign-in/settings.js'
import type { Renewal } from './sign-in/tokens.js'
import { createModelLimits } from './catalog/model-limits.js'
import { type CatalogModel, makeModel } from './catalog/models.js'
import { publicRecord } from '../../protocol/text/secrets.js'

export interface ProvidersDeps {
  readonly effects: Pick<Effects, 'clock' | 'fetch' | 'env' | 'log'>
  readonly configs: Pick<Configs, 'load'>
  /** What plugins contribute in a directory: the same list for as long as nothing changes. */
  readonly contributions: (directory: string) => readonly ProviderContribution[] | Promise<readonly ProviderContribution[]>
  /** Names of the adapters that plugins bring somewhere; absent = those of the installation are all. */
  readonly adapters?: () => ReadonlySet<string>
  /** The id of the registered workspace that contains a directory; absent = there are none. */
  readonly workspaceOf?: (directory: string) => Promise<string | undefined>
  /** The catalog of models; absent = there is none. */
  readonly source?: CatalogSource
  /** Stored credentials; absent = there are none. */
  readonly credentials?: Pick<CredentialFile, 'read'>
  /** The directory of the installation, whose configuration says where stored keys go. */
  readonly installation?: string
  /** Renews tokens of sign-ins; absent = nobody does. */
  readonly renewal?: Renewal
}

/** Where a session works, and in which workspace it says so. */
interface Where {
  readonly directory: string
  readonly workspaceId: string | undefined
}

const OFFLINE: ModelRef = { providerId: 'svc', id: 'offline' }
/** Problems in the log; the same provider is in the configuration of every directory. */
const TOLD = 256
/** Provider options that are not request options. */
const CLIENT_OPTIONS = new Set(['baseURL', 'apiKey', 'headers', 'timeout', 'script'])

export function createProviders({ effects, configs, contributions, source = NO_SOURCE, ...stores }: ProvidersDeps): Providers {
  const { credentials = NO_CREDENTIALS, installation = '', renewal } = stores
  const discovery = createDiscovery(effects)
  const withLimits = createModelLimits(effects)
  const told = createLru<string, true>(TOLD)
  const catalogOf = createCatalogCache(effects.env, ({ providers }, from) => {
    for (const provider of providers) {
      if (provider.source !== 'offered' && provider.configuredKey !== undefined && told.get(provider.id) === undefined) {
        effects.log.warn('a key stands in a configuration file; {env:NAME} keeps it out', { providerId: provider.id })
        told.set(provider.id, true)
      }
      if (provider.contribution !== undefined || provider.source === 'offered') continue
      const problem = missingAdapter(provider, from)
      if (told.get(problem) === undefined) effects.log.warn('a provider has no adapter', { providerId: provider.id, problem })
      told.set(problem, true)
    }
  })
  const adapterOf = createAdapterCache((provider) => keyOf(provider, effects.env), renewal)
  const isUsable = (provider: CatalogProvider) => obstacle(provider, effects.env) === undefined
  const isConnected = (provider: CatalogProvider) =>
    provider.contribution !== undefined && (provider.auth !== 'required' || keyOf(provider, effects.env) !== undefined)
  const isVendorInUse = ({ providers }: Catalog) =>
    providers.some((provider) => provider.source === 'offered' && !provider.isLocal && isConnected(provider))

  const readConfigured = async (directory: string): Promise<Catalog> => {
    const from = await contributions(directory)
    return catalogOf(await configs.load(directory), from, await source.known())
  }
  /** Where stored keys go, whatever a directory says. */
  const installed = async (): Promise<Installed> => {
    const { providers } = await readConfigured(installation)
    const document = await configs.load(installation)
    return {
      endpoint: (providerId) => providers.find(({ id }) => id === providerId)?.baseURL,
      subscription: (providerId) => signInSettings(document, providerId),
    }
  }
  /** Whose connections count, the nearest first (choice 33). */
  const workspacesOf = async (directory: string, workspaceId: string | undefined): Promise<readonly string[]> => {
    const managed = await stores.workspaceOf?.(directory)
    return [...new Set([workspaceId, managed, directory].filter((id) => id !== undefined))]
  }
  const read = async (directory: string, workspaceId?: string): Promise<Catalog> => {
    const document = await credentials.read()
    const catalog = await readConfigured(directory)
    if (document.connections.size === 0) return catalog
    const workspaceIds = await workspacesOf(directory, workspaceId)
    return withStoredKeys(catalog, document, { workspaceIds, ...(await installed()) })
  }
  /** What is known now; where the source has something new, the next look finds it. */
  const load = async (directory: string, workspaceId?: string): Promise<Catalog> => {
    const catalog = await read(directory, workspaceId)
    void source.renew(isVendorInUse(catalog))
    return catalog
  }
  /** As `load`, but what has only the snapshot waits a moment for the source. */
  const loadNewest = async (directory: string, workspaceId?: string): Promise<Catalog> => {
    await source.renew(isVendorInUse(await read(directory, workspaceId)))
    return read(directory, workspaceId)
  }

  const discovered = async (provider: CatalogProvider): Promise<readonly string[] | undefined> => {
    if (!provider.discoverModels || provider.baseURL === undefined || !isUsable(provider)) return []
    const { id: providerId, baseURL, headers } = provider
    return discovery.models({ providerId, baseURL, headers, key: keyOf(provider, effects.env) })
  }
  /** All models for a list; a server nobody configured is asked only where that is allowed. */
  const modelsOf = async (provider: CatalogProvider, { localModels }: Catalog): Promise<Models> => {
    const ids = provider.isLocal && !localModels ? [] : await discovered(provider)
    return asSubscribed(provider, await withLimits(provider, withDiscovered(provider, ids ?? [])))
  }

  /** A named model; while an endpoint has never told its models, any name is taken at its word. */
  const findModel = async (provider: CatalogProvider, id: string): Promise<CatalogModel | undefined> => {
    const explicit = provider.models.get(id)
    if (explicit !== undefined) return (await withLimits(provider, new Map([[id, explicit]]))).get(id)
    if (!provider.discoverModels) return undefined
    const ids = await discovered(provider)
    return ids === undefined ? makeModel(provider, id, {}) : withDiscovered(provider, ids).get(id)
  }

  const tellOnce = (problem: string): void => {
    if (told.get(problem) === undefined) effects.log.warn(problem)
    told.set(problem, true)
  }

  const namedModel = async (catalog: Catalog, name: string | undefined): Promise<ModelRef | undefined> => {
    const slash = name?.indexOf('/') ?? -1
    if (name === undefined || slash === -1) return undefined
    const id = name.slice(slash + 1)
    const provider = catalog.providers.find((candidate) => candidate.id === name.slice(0, slash))
    if (provider === undefined || !isUsable(provider) || (await findModel(provider, id)) === undefined) return undefined
    return { providerId: provider.id, id }
  }

  const find = async (
    catalog: Catalog,
    { directory, workspaceId }: Where,
    ref: ModelRef,
  ): Promise<{ provider: CatalogProvider; model: CatalogModel }> => {
    const found = catalog.providers.find(({ id }) => id === ref.providerId)
    const connection = namedConnection(await credentials.read(), ref, await workspacesOf(directory, workspaceId))
    if (found === undefined) throw unknownProvider(ref.providerId, catalog, isUsable)
    const provider = connection === undefined ? found : withConnectionKey(found, connection, await installed())
    const reason = obstacle(provider, effects.env, await contributions(directory))
    if (reason !== undefined) throw new SvcError('request.invalid', reason, { providerId: provider.id })
    const known = await findModel(provider, ref.id)
    const model = known && asSubscribed(provider, new Map([[ref.id, known]])).get(ref.id)
    if (model !== undefined) return { provider, model }
    throw unknownModel(provider, ref.id, await modelsOf(provider, { ...catalog, localModels: true }), catalog, isUsable)
  }

  /** A model that can be called, and the provider as it is called for it. */
  const reach = async (where: Where, ref: ModelRef) => {
    const { directory, workspaceId } = where
    let catalog = await load(directory, workspaceId)
    const { provider, model } = await find(catalog, where, ref).catch(async (error: unknown) => {
      catalog = await loadNewest(directory, workspaceId)
      return find(catalog, where, ref).catch(() => {
        throw error
      })
    })
    const reached = { ...provider, ...model.via }
    const reason = obstacle(reached, effects.env, await contributions(directory))
    if (reason !== undefined) throw new SvcError('request.invalid', reason, { providerId: provider.id })
    return { catalog, provider, model, reached }
  }

  /** Why a credential would never be used. */
  const unfit = async (provider: CatalogProvider, type: AuthInfo['type'] | undefined): Promise<string | undefined> => {
    const { id, npm, contribution } = provider
    if (contribution === undefined && stores.adapters?.().has(npm) !== true)
      return missingAdapter(provider, await contributions(installation))
    if (type !== 'oauth' || contribution?.takesTokens === true) return undefined
    return `The adapter of provider "${id}" takes keys and no OAuth tokens.`
  }

  const toRecord = (provider: CatalogProvider, models: Models): Provider => {
    const { id, name, env, options } = provider
    const records = Object.fromEntries(recordsOf(models).map((record) => [record.id, toShown(record)]))
    return { id, name, source: sourceOf(provider, effects.env), env: [...env], options: publicRecord(options), models: records }
  }

  return {
    async list(directory) {
      const catalog = await loadNewest(directory)
      const listed = await Promise.all(
        catalog.providers.map(async (provider) => ({ provider, record: toRecord(provider, await modelsOf(provider, catalog)) })),
      )
      const isThere = ({ provider, record }: (typeof listed)[number]) => !provider.isLocal || Object.keys(record.models).length > 0
      const all = listed.map(({ record }) => record)
      const connected = listed.filter((entry) => isConnected(entry.provider) && isThere(entry)).map(({ record }) => record.id)
      return { all, default: defaultsOf(all), connected }
    },
    async configured(directory) {
      const catalog = await loadNewest(directory)
      const records = await Promise.all(
        catalog.providers.filter(isUsable).map(async (provider) => {
          const offered = [...(await modelsOf(provider, catalog))].filter(([, model]) => isOffered(model.record) && isReachable(model))
          return toRecord(provider, new Map(offered))
        }),
      )
      const usable = records.filter(({ models }) => Object.keys(models).length > 0)
      return { providers: usable, default: defaultsOf(usable) }
    },
    async defaultModel(directory, workspaceId) {
      const catalog = await load(directory, workspaceId)
      const named = await namedModel(catalog, catalog.model)
      if (named !== undefined) return { ...named, ...(catalog.variant === undefined ? {} : { variant: catalog.variant }) }
      const wish = wishedModel(effects.env)
      const wished = wish?.model === undefined ? undefined : await namedModel(catalog, wish.model)
      if (wished !== undefined) return wished
      const usable = catalog.providers.filter((provider) => provider.source !== 'builtin' && isUsable(provider))
      const ofWish = usable.filter(({ id }) => wish?.model === undefined && id === wish?.provider)
      if (wish !== undefined && ofWish.length === 0) tellOnce(`${wish.said} of the environment cannot be used as the default model`)
      for (const provider of [...ofWish, ...usable]) {
        const models = [...(await modelsOf(provider, catalog)).values()].filter(isReachable)
        const id = defaultModelOf(models.map(({ record }) => record))
        if (id !== undefined) return { providerId: provider.id, id }
      }
      return OFFLINE
    },
    async smallModel(directory, workspaceId) {
      const catalog = await load(directory, workspaceId)
      return namedModel(catalog, catalog.smallModel)
    },
    async check(directory, ref, workspaceId) {
      const { model } = await reach({ directory, workspaceId }, ref)
      refuseUnknownVariant({ ref, model: model.record })
    },
    async endpoint(providerId, type) {
      const { providers } = await readConfigured(installation)
      const provider = providers.find(({ id }) => id === providerId)
      if (provider !== undefined) {
        const reason = await unfit(provider, type)
        if (reason !== undefined) throw new SvcError('request.unprocessable', reason, { providerId })
        return provider.baseURL
      }
      const message = `There is no provider "${providerId}" in the configuration of this installation. Configure it there, so that its key has an address to go to.`
      throw new SvcError('resource.not_found', message, { providerId })
    },
    async hasUsable() {
      const { providers, localModels } = await read(installation)
      return providers.some((provider) => provider.source !== 'builtin' && (localModels || !provider.isLocal) && isUsable(provider))
    },
    async connectable() {
      const { providers } = await readConfigured(installation)
      return providers.flatMap(({ id, auth, env, source, contribution }) =>
        contribution === undefined || source === 'builtin'
          ? []
          : [{ id, hasKey: env.length > 0, isSecret: auth !== 'none', takesTokens: contribution.takesTokens === true }],
      )
    },
    async resolve(directory, ref, workspaceId) {
      const { catalog, provider, model, reached } = await reach({ directory, workspaceId }, ref)
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

/** The model of this process where no configuration names one (sessions-events §4.8). `said`: what the variables say. */
function wishedModel(env: Effects['env']) {
  const [provider, model] = [env['SVC_AGENT_PROVIDER']?.trim() ?? '', env['SVC_AGENT_MODEL']?.trim() ?? '']
  if (provider === '' && model === '') return undefined
  const said = `"${[provider, model].filter((each) => each !== '').join('/')}"`
  if (provider === '' || model.startsWith(`${provider}/`)) return { provider, model, said }
  return model === '' ? { provider, said } : { provider, model: `${provider}/${model}`, said }
}

const NO_CREDENTIALS: Pick<CredentialFile, 'read'> = { read: () => Promise.resolve(EMPTY) }
const NO_SOURCE: CatalogSource = { known: () => Promise.resolve(NOTHING_INSTALLED.offered), renew: () => Promise.resolve() }

/** Adapters whose API can be told how much to write; others would refuse the field, or never look at it. */
const TOLD_VERBOSITY: ReadonlySet<string> = new Set(['@ai-sdk/openai', '@openrouter/ai-sdk-provider'])

/** The least of all options. A provider that a plugin brings goes by its own id, and is told. */
function verbosityFor({ id, npm }: Pick<CatalogProvider, 'id' | 'npm'>, { textVerbosity }: Pick<Catalog, 'textVerbosity'>) {
  const isTold = textVerbosity !== undefined && (TOLD_VERBOSITY.has(npm) || npm === id)
  return isTold ? { textVerbosity } : {}
}

function isReachable({ via }: CatalogModel): boolean {
  return via === undefined || via.contribution !== undefined
}

/** Where a provider comes from, for clients (http-contract §2.4). */
function sourceOf(provider: CatalogProvider, env: Effects['env']): Provider['source'] {
  if (provider.source !== 'offered') return provider.source
  if (provider.stored !== undefined) return 'api'
  return keyOf(provider, env) === undefined ? 'custom' : 'env'
}

/** Why a provider cannot be used now, as a sentence; undefined when it can. */
function obstacle(provider: CatalogProvider, env: Effects['env'], contributions: readonly ProviderContribution[] = []): string | undefined {
  const { id, source, baseURL } = provider
  if (provider.contribution === undefined) return missingAdapter(provider, contributions)
  if (source !== 'builtin' && baseURL === undefined) return `Provider "${id}" needs an address: set provider.${id}.options.baseURL.`
  if (provider.auth !== 'required' || keyOf(provider, env) !== undefined) return undefined
  return missingKey(provider)
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

/** Reads a document once for as long as it, the contributions and what is offered stay the same objects. */
function createCatalogCache(
  env: Effects['env'],
  onRead: (catalog: Catalog, from: readonly ProviderContribution[]) => void,
): (document: ConfigDocument, from: readonly ProviderContribution[], offered: Offered) => Catalog {
  interface Read {
    readonly from: readonly ProviderContribution[]
    readonly offered: Offered
    readonly catalog: Catalog
  }
  const catalogs = new WeakMap<ConfigDocument, Read>()
  const address = (id: string) => env[addressVariable(id)]?.trim() || undefined
  return (document, from, offered) => {
    const known = catalogs.get(document)
    const isSame = known?.offered === offered && known.from.length === from.length
    if (isSame && known.from.every((one, index) => one === from[index])) return known.catalog
    const catalog = readCatalog(document, from, { offered: withLocal(offered), address, env })
    catalogs.set(document, { from, offered, catalog })
    onRead(catalog, from)
    return catalog
  }
}

/** Vendors svc knows, best known first, then the others as the catalog has them, then the model servers of this machine. */
function withLocal(offered: Offered): Offered {
  if (offered.size === 0) return offered
  const known = [...knownVendors().keys()].flatMap((id) => offered.get(id) ?? [])
  return new Map([...known, ...offered.values(), ...LOCAL_PROVIDERS.values()].map((provider) => [provider.id, provider]))
}
