/**
 * The providers and models a configuration document describes, together with those that plugins bring
 * (subsystems b.3, c.2, c.3). Pure: no clock, no environment, no network.
 */
import * as z from 'zod'
import { asDeclared } from '../../../protocol/leniency.js'
import type { ConfigDocument } from '../../../protocol/resource/config.js'
import type { ProviderModel } from '../../../protocol/provider/provider.js'
import { anyRecord } from '../../../protocol/shared.js'
import type { ProviderContribution } from '../../plugin/native/native.js'
import { type CatalogModel, makeModel, type ModelOwner, readModelConfig } from './models.js'

/** `npm`: adapter package name, or the id of the provider a plugin brings. `baseURL`: without trailing slash; undefined when nobody names one. */
export interface CatalogProvider extends ModelOwner {
  readonly name: string
  readonly source: 'config' | 'builtin'
  /** Names of environment variables that may hold the key. */
  readonly env: readonly string[]
  /** Key written into the configuration itself; never leaves the process but in requests to `baseURL`. */
  readonly configuredKey: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Everything under `options`, secrets included. */
  readonly options: Readonly<Record<string, unknown>>
  readonly discoverModels: boolean
  readonly models: ReadonlyMap<string, CatalogModel>
  /** Undefined when no adapter serves `npm`. */
  readonly contribution: ProviderContribution | undefined
}

export interface Catalog {
  /** In the order of the configuration, then those that plugins bring. */
  readonly providers: readonly CatalogProvider[]
  /** Ids that `enabledProviders` or `disabledProviders` removed. */
  readonly switchedOff: ReadonlySet<string>
  /** Top-level `model` and `variant`. */
  readonly model: string | undefined
  readonly variant: string | undefined
}

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
})
type ProviderConfig = z.infer<typeof ProviderConfig>

const Selections = z.looseObject({
  model: z.string().optional().catch(undefined),
  variant: z.string().optional().catch(undefined),
  enabledProviders: z.array(z.string()).optional().catch(undefined),
  disabledProviders: z.array(z.string()).optional().catch(undefined),
  provider: anyRecord.optional().catch(undefined),
})

/** Reads the flat document; entries that cannot be read are left out (`GET /v2/config/validate` names them). */
export function readCatalog(document: ConfigDocument, contributions: readonly ProviderContribution[]): Catalog {
  const { model, variant, enabledProviders, disabledProviders, provider = {} } = Selections.parse(document)
  const configs = new Map<string, ProviderConfig>()
  for (const [id, value] of Object.entries(provider)) {
    const parsed = ProviderConfig.safeParse(asDeclared(ProviderConfig, value))
    if (parsed.success) configs.set(id, parsed.data)
  }
  const builtins = contributions.flatMap((contribution) => (contribution.builtin === undefined ? [] : [contribution.builtin.id]))
  const ids = [...[...configs.keys()].filter((id) => !builtins.includes(id)), ...new Set(builtins)]
  const isOn = (id: string) => enabledProviders?.includes(id) !== false && disabledProviders?.includes(id) !== true
  return {
    providers: ids.filter(isOn).map((id) => makeProvider(id, configs.get(id) ?? {}, contributions)),
    switchedOff: new Set(ids.filter((id) => !isOn(id))),
    model,
    variant,
  }
}

function makeProvider(id: string, config: ProviderConfig, contributions: readonly ProviderContribution[]): CatalogProvider {
  const brought = contributions.find((contribution) => contribution.builtin?.id === id)
  const npm = brought === undefined ? (config.npm ?? GENERIC_ADAPTER) : id
  const contribution = brought ?? contributions.find((candidate) => candidate.npm.includes(npm))
  const options = config.options ?? {}
  const baseURL = text(options.baseURL) ?? contribution?.endpoints?.[npm]
  const env = config.env ?? []
  const configuredKey = text(options.apiKey)
  const provider = {
    id,
    name: config.name ?? brought?.builtin?.name ?? id,
    source: brought === undefined ? ('config' as const) : ('builtin' as const),
    npm,
    auth:
      config.auth ??
      defaultAuth(brought !== undefined || text(options.baseURL) !== undefined, env.length > 0 || configuredKey !== undefined),
    baseURL: baseURL?.replace(/\/+$/, ''),
    env,
    configuredKey,
    headers: stringRecord(options.headers),
    options,
    compatibility: {
      streamUsage: config.compatibility?.streamUsage ?? true,
      reasoningEffort: config.compatibility?.reasoningEffort ?? npm !== GENERIC_ADAPTER,
    },
    discoverModels: config.discoverModels ?? false,
    contribution,
  }
  const models = new Map<string, CatalogModel>()
  for (const model of brought?.builtin?.models ?? []) models.set(model.id, makeModel(provider, model.id, model))
  for (const [modelId, value] of Object.entries(config.models ?? {})) {
    const modelConfig = readModelConfig(value)
    if (modelConfig !== undefined) models.set(modelId, makeModel(provider, modelId, modelConfig))
  }
  return { ...provider, models }
}

function defaultAuth(hasOwnAddress: boolean, hasCredential: boolean): CatalogProvider['auth'] {
  return hasOwnAddress && !hasCredential ? 'none' : 'required'
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
function stringRecord(value: unknown): Record<string, string> {
  const record = anyRecord.safeParse(value)
  if (!record.success) return {}
  return Object.fromEntries(Object.entries(record.data).flatMap(([key, entry]) => (typeof entry === 'string' ? [[key, entry]] : [])))
}
