/**
 * The providers and models a configuration document describes, together with those that plugins bring
 * (subsystems b.3, c.2, c.3). Pure: no clock, no environment, no network.
 */
import * as z from 'zod'
import { isRecord } from '../../../protocol/text/json.js'
import { asDeclared } from '../../../protocol/text/leniency.js'
import type { ConfigDocument } from '../../../protocol/resource/config.js'
import type { ProviderModel } from '../../../protocol/provider/provider.js'
import { anyRecord } from '../../../protocol/shared.js'
import type { Effects } from '../../../ports/effects.js'
import type { ProviderContribution } from '../../../ports/plugin.js'
import type { StoredKey } from '../credentials/document.js'
import { type CatalogModel, makeModel, type ModelConfig, type ModelOwner, readModelConfig, type Via } from './models.js'
import type { Offered, OfferedModel, OfferedProvider } from './offered.js'
import { expanded, variableOf } from './variables.js'

/** `npm`: adapter package name, or the id of the provider a plugin brings. `baseURL`: without trailing slash; undefined when nobody names one. */
export interface CatalogProvider extends ModelOwner {
  readonly name: string
  /** `offered`: the catalog of models has it and the configuration does not. */
  readonly source: 'config' | 'builtin' | 'offered'
  /** Names of environment variables that may hold the key. */
  readonly env: readonly string[]
  /** Key written into the configuration itself; never leaves the process but in requests to `baseURL`. */
  readonly configuredKey: string | undefined
  /** The stored key a call uses, where there is one. */
  readonly stored?: StoredKey
  /** What is called with it is a subscription: it costs nothing more, and may have limits of its own. */
  readonly subscription?: Subscription
  readonly headers: Readonly<Record<string, string>>
  /** Everything under `options`, secrets included. */
  readonly options: Readonly<Record<string, unknown>>
  readonly discoverModels: boolean
  /** A model server on this machine that nobody configured: asked when it is named, or when the configuration allows. */
  readonly isLocal: boolean
  readonly models: ReadonlyMap<string, CatalogModel>
  /** Undefined when no adapter serves `npm`. */
  readonly contribution: ProviderContribution | undefined
}

interface Subscription {
  readonly limit: CatalogModel['record']['limit'] | undefined
}

export interface Catalog {
  /** In the order of the configuration, then those the catalog of models offers, then those that plugins bring. */
  readonly providers: readonly CatalogProvider[]
  /** Ids that `enabledProviders` or `disabledProviders` removed. */
  readonly switchedOff: ReadonlySet<string>
  /** Top-level `model`, `smallModel` and `variant`. */
  readonly model: string | undefined
  readonly smallModel: string | undefined
  /** How much a model is to write, where its API can be told. */
  readonly textVerbosity: string | undefined
  readonly variant: string | undefined
  /** Model servers on this machine are looked for (`network.localModels`). */
  readonly localModels: boolean
}

/** What there is without any configuration. */
export interface Installed {
  readonly offered: Offered
  /** Variables that `{env:NAME}` stands for in addresses, keys and headers, which only the installation can set. */
  readonly env: Effects['env']
  /** Address the installation gives a provider of the catalog instead of its own. */
  address(id: string): string | undefined
}

export const NOTHING_INSTALLED: Installed = { offered: new Map(), env: {}, address: () => undefined }

const GENERIC_ADAPTER = '@ai-sdk/openai-compatible'

const ProviderConfig = z.looseObject({
  name: z.string().optional(),
  npm: z.string().optional(),
  auth: z.enum(['none', 'optional', 'required']).optional(),
  options: anyRecord.optional(),
  env: z.array(z.string()).optional(),
  discoverModels: z.boolean().optional(),
  models: anyRecord.optional(),
  compatibility: z.looseObject({ streamUsage: z.boolean().optional(), reasoningEffort: z.boolean().optional() }).optional(),
  /** Read where somebody signs in. */
  signIn: anyRecord.optional(),
})
type ProviderConfig = z.infer<typeof ProviderConfig>

const Selections = z.looseObject({
  model: z.string().optional().catch(undefined),
  smallModel: z.string().optional().catch(undefined),
  textVerbosity: z.enum(['low', 'medium', 'high']).optional().catch(undefined),
  variant: z.string().optional().catch(undefined),
  enabledProviders: z.array(z.string()).optional().catch(undefined),
  disabledProviders: z.array(z.string()).optional().catch(undefined),
  provider: anyRecord.optional().catch(undefined),
  network: z.looseObject({ localModels: z.boolean().optional() }).optional().catch(undefined),
})

/** Reads the flat document; entries that cannot be read are left out (`GET /v2/config/validate` names them). */
export function readCatalog(
  document: ConfigDocument,
  contributions: readonly ProviderContribution[],
  installed: Installed = NOTHING_INSTALLED,
): Catalog {
  const {
    model,
    smallModel,
    textVerbosity,
    variant,
    enabledProviders,
    disabledProviders,
    provider = {},
    network,
  } = Selections.parse(document)
  const configs = new Map<string, ProviderConfig>()
  for (const [id, value] of Object.entries(provider)) {
    const parsed = ProviderConfig.safeParse(asDeclared(ProviderConfig, value))
    if (parsed.success) configs.set(id, parsed.data)
  }
  const builtins = contributions.flatMap((contribution) => (contribution.builtin === undefined ? [] : [contribution.builtin.id]))
  const own = [...configs.keys(), ...installed.offered.keys()].filter((id) => !builtins.includes(id))
  const ids = [...new Set([...own, ...builtins])]
  const isOn = (id: string) => enabledProviders?.includes(id) !== false && disabledProviders?.includes(id) !== true
  return {
    providers: ids.filter(isOn).map((id) => makeProvider(id, configs.get(id), contributions, installed)),
    switchedOff: new Set(ids.filter((id) => !isOn(id))),
    model,
    smallModel,
    textVerbosity,
    variant,
    localModels: network?.localModels === true,
  }
}

function makeProvider(
  id: string,
  configured: ProviderConfig | undefined,
  contributions: readonly ProviderContribution[],
  installed: Installed,
): CatalogProvider {
  const config = configured ?? {}
  const brought = contributions.find((contribution) => contribution.builtin?.id === id)
  const offered = brought === undefined ? installed.offered.get(id) : undefined
  const npm = brought === undefined ? (config.npm ?? offered?.npm ?? GENERIC_ADAPTER) : id
  const contribution = brought ?? contributionFor(npm, contributions)
  const options = config.options ?? {}
  const address = text(expanded(options.baseURL, installed.env))
  const replaced = offered === undefined ? undefined : installed.address(id)
  const baseURL = replaced ?? address ?? offered?.api ?? contribution?.endpoints?.[npm]
  const keyVariable = variableOf(options.apiKey)
  const env = [...(keyVariable === undefined ? [] : [keyVariable]), ...(config.env ?? offered?.env ?? [])]
  const configuredKey = keyVariable === undefined ? text(expanded(options.apiKey, installed.env)) : undefined
  const provider = {
    id,
    name: config.name ?? brought?.builtin?.name ?? offered?.name ?? id,
    source: brought !== undefined ? ('builtin' as const) : configured === undefined ? ('offered' as const) : ('config' as const),
    npm,
    auth:
      config.auth ??
      defaultAuth({
        isKeyless: brought !== undefined,
        offered,
        address,
        keys: [...env, configuredKey ?? [], ...Object.keys(config.signIn ?? {})].flat(),
      }),
    baseURL: baseURL?.replace(/\/+$/, ''),
    env,
    configuredKey,
    headers: stringRecord(options.headers, installed.env),
    options,
    compatibility: {
      streamUsage: config.compatibility?.streamUsage ?? true,
      reasoningEffort: config.compatibility?.reasoningEffort ?? npm !== GENERIC_ADAPTER,
    },
    discoverModels: config.discoverModels ?? offered?.isLocal === true,
    isLocal: configured === undefined && offered?.isLocal === true,
    contribution,
  }
  const modelOf = (known: OfferedModel | undefined, modelId: string, model: ModelConfig): CatalogModel => {
    const via = known && viaOf(provider, known, contributions)
    return { ...makeModel({ ...provider, ...via }, modelId, model), ...(via && { via }) }
  }
  return withModels(provider, () => {
    const models = new Map<string, CatalogModel>()
    for (const model of brought?.builtin?.models ?? []) models.set(model.id, makeModel(provider, model.id, model))
    for (const [modelId, model] of offered?.models ?? []) {
      models.set(modelId, modelOf(model, modelId, model.config))
    }
    for (const [modelId, value] of Object.entries(config.models ?? {})) {
      const known = offered?.models.get(isRecord(value) && typeof value.id === 'string' ? value.id : modelId)
      const modelConfig = readModelConfig(known === undefined ? value : overlaid(known.config, value))
      if (modelConfig !== undefined) models.set(modelId, modelOf(known, modelId, modelConfig))
    }
    return models
  })
}

type Settings = Omit<CatalogProvider, 'models'>

/** Models of a catalog are many, and made when somebody asks for them. */
function withModels(provider: Settings, make: () => ReadonlyMap<string, CatalogModel>): CatalogProvider {
  let made: ReadonlyMap<string, CatalogModel> | undefined
  return {
    ...provider,
    get models() {
      return (made ??= make())
    },
  }
}

/** How a model is reached to which the catalog gives another adapter or address than its provider has. */
function viaOf(provider: Settings, { npm, api }: OfferedModel, contributions: readonly ProviderContribution[]): Via | undefined {
  if (npm === undefined && api === undefined) return undefined
  const adapter = npm ?? provider.npm
  const contribution = contributionFor(adapter, contributions)
  const baseURL = (api ?? (npm === undefined ? undefined : contribution?.endpoints?.[adapter]) ?? provider.baseURL)?.replace(/\/+$/, '')
  return { npm: adapter, baseURL, contribution }
}

function contributionFor(npm: string, contributions: readonly ProviderContribution[]): ProviderContribution | undefined {
  return contributions.find((candidate) => candidate.npm.includes(npm))
}

/** What the configuration says of a model above what the catalog knows of it. */
function overlaid(known: ModelConfig, value: unknown): unknown {
  if (!isRecord(value)) return value
  const merged: Record<string, unknown> = { ...known, ...value }
  for (const key of ['limit', 'cost', 'options', 'headers', 'modalities'] as const) {
    const [below, above] = [known[key], value[key]]
    if (isRecord(below) && isRecord(above)) merged[key] = { ...below, ...above }
  }
  return merged
}

interface Ground {
  readonly isKeyless: boolean
  readonly offered: OfferedProvider | undefined
  /** Of the configuration. */
  readonly address: string | undefined
  readonly keys: readonly string[]
}

/** Who has an address of its own and no key needs none; a vendor reached at another address may. */
function defaultAuth({ isKeyless, offered, address, keys }: Ground): CatalogProvider['auth'] {
  if (isKeyless || offered?.isLocal === true) return 'none'
  if (offered !== undefined) return address === undefined ? 'required' : 'optional'
  return address !== undefined && keys.length === 0 ? 'none' : 'required'
}
/** All models of a provider: what the endpoint listed, below what the configuration says (subsystems c.4). */
export function withDiscovered(provider: CatalogProvider, ids: readonly string[]): ReadonlyMap<string, CatalogModel> {
  const models = new Map(provider.models)
  const wireIds = new Set([...provider.models.values()].map(({ wireId }) => wireId))
  for (const id of ids) if (!models.has(id) && !wireIds.has(id)) models.set(id, makeModel(provider, id, {}))
  return models
}

/** Why a provider without an adapter cannot be used, and which adapters there are. */
export function missingAdapter(
  { id, npm }: Pick<CatalogProvider, 'id' | 'npm'>,
  contributions: readonly Pick<ProviderContribution, 'npm'>[],
): string {
  const known = [...new Set(contributions.flatMap((contribution) => contribution.npm))].toSorted()
  return `Provider "${id}" needs the adapter "${npm}", which this server does not have. It has ${known.length === 0 ? 'none' : known.join(', ')}.`
}

/** Well-known families, best first, for the default model of a provider. */
const FAMILIES = ['gpt-5', 'claude-sonnet-4', 'gemini-3-pro', 'gemini-2.5-pro', 'qwen3-coder', 'glm-4', 'deepseek']

/** The default model: the best-known family, then the highest id; undefined when no model is usable. */
export function defaultModelOf(models: Iterable<ProviderModel>): string | undefined {
  const rank = (id: string) => {
    const place = FAMILIES.findIndex((family) => id.includes(family))
    return place === -1 ? FAMILIES.length : place
  }
  const ids = [...models].filter(isOffered).map(({ id }) => id)
  return ids.toSorted((a, b) => rank(a) - rank(b) || (a < b ? 1 : -1))[0]
}

/** Whether a model appears in lists of usable models; others work when they are named. */
export function isOffered(model: ProviderModel): boolean {
  return model.status !== 'alpha' && model.status !== 'deprecated'
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The entries of a record whose values are strings. */
function stringRecord(value: unknown, env: Effects['env']): Record<string, string> {
  const record = anyRecord.safeParse(value)
  if (!record.success) return {}
  return Object.fromEntries(
    Object.entries(record.data).flatMap(([key, entry]) => (typeof entry === 'string' ? [[key, expanded(entry, env)]] : [])),
  )
}
