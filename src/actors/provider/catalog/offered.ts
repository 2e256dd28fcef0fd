/**
 * What a models catalog offers (subsystems c.1), read tolerantly: unknown fields are ignored, what cannot be read is left out.
 *
 * I1 A catalog says what models there are, not where keys go: the address, the adapter and the key variables of the vendors
 *    that svc knows itself are those of svc, and no other provider may claim these variables.
 */
import * as z from 'zod'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { anyRecord, uint } from '../../../protocol/shared.js'
import { Modality, type ModelConfig, rate } from './models.js'

export interface OfferedModel {
  readonly config: ModelConfig
  /** Instead of those of its provider. */
  readonly npm: string | undefined
  readonly api: string | undefined
}

export interface OfferedProvider {
  readonly id: string
  readonly name: string
  /** Names of environment variables that may hold the key. */
  readonly env: readonly string[]
  readonly npm: string | undefined
  readonly api: string | undefined
  readonly models: ReadonlyMap<string, OfferedModel>
  /** A server on this machine: asked for its models when it is named, or when `network.localModels` is true. */
  readonly isLocal?: true
}

/** By provider id. */
export type Offered = ReadonlyMap<string, OfferedProvider>

const ProviderEntry = z.object({
  name: z.string().max(256).optional(),
  env: z.array(z.string()).default([]),
  npm: z.string().max(256).optional(),
  api: z.string().max(2048).optional(),
  models: anyRecord,
})

const FlatRates = z.looseObject({ input: rate, output: rate, cache_read: rate.optional(), cache_write: rate.optional() })
const Cost = FlatRates.extend({ context_over_200k: FlatRates.optional().catch(undefined) })
const FREE = { input: 0, output: 0 }
const flag = z.boolean().optional().catch(undefined)

const ModelEntry = z.looseObject({
  name: z.string().max(256).optional(),
  family: z.string().max(256).optional().catch(undefined),
  release_date: z.string().max(64).optional().catch(undefined),
  attachment: flag,
  reasoning: flag,
  temperature: flag,
  tool_call: flag,
  interleaved: z
    .union([z.boolean(), z.looseObject({ field: z.string().min(1) })])
    .optional()
    .catch(undefined),
  cost: Cost.optional().catch(undefined),
  limit: z.looseObject({ context: uint, output: uint, input: uint.optional() }),
  modalities: z
    .looseObject({ input: z.array(z.string()).optional(), output: z.array(z.string()).optional() })
    .optional()
    .catch(undefined),
  status: z.enum(['alpha', 'beta', 'deprecated', 'active']).optional().catch(undefined),
  provider: z
    .looseObject({
      npm: z.string().optional(),
      api: z.string().optional(),
      body: anyRecord.optional(),
      headers: z.record(z.string(), z.string()).optional(),
    })
    .optional()
    .catch(undefined),
  experimental: z.looseObject({ modes: anyRecord.optional() }).optional().catch(undefined),
})
type ModelEntry = z.infer<typeof ModelEntry>

const Mode = z.looseObject({
  cost: z.record(z.string(), rate.optional().catch(undefined)).optional(),
  provider: z.looseObject({ body: anyRecord.optional(), headers: z.record(z.string(), z.string()).optional() }).optional(),
})

/** Models that are read in one go. */
const TOGETHER = 64
const PROVIDER_ID = /^[a-z0-9][\w.-]{0,127}$/i
const MODEL_ID = /^[^\p{C}\s]{1,256}$/u
const KEY_VARIABLE = /^(?!SVC_)[A-Z][A-Z0-9_]{2,127}$/
const CREDENTIAL_HEADER = /^(proxy-)?authorization$|^cookie$|key|token|secret/i

/**
 * The catalog `document`. `known` are the vendors svc knows itself (I1). Throws when nothing in it can be read: what is no
 * catalog must not take the place of one.
 */
export function readOffered(document: unknown, known: Offered): Offered {
  if (!isRecord(document)) throw new Error('the catalog is no object of providers')
  const reading = readingOffered(Object.entries(document), known)
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) return value
  }
}

/** The same of its members, some models at a time. */
export function* readingOffered(members: Iterable<readonly [id: string, value: unknown]>, known: Offered): Generator<void, Offered> {
  const taken = new Set([...known.values()].flatMap(({ env }) => env))
  const providers = new Map<string, OfferedProvider>()
  let room = LIMITS.catalog.models
  let looked = 0
  for (const [id, value] of members) {
    yield
    if (++looked > LIMITS.catalog.providers) continue // the rest has to be JSON all the same
    const parsed = PROVIDER_ID.test(id) ? ProviderEntry.safeParse(value) : undefined
    if (parsed?.success !== true) continue
    const models = yield* readModels(parsed.data.models, room)
    room -= models.size
    if (models.size > 0) providers.set(id, ownedBy(known.get(id), taken, { id, ...parsed.data, models }))
  }
  if (providers.size === 0) throw new Error('the catalog holds no provider that can be read')
  return providers
}

/** What a catalog says of a provider. */
type Claim = Omit<z.infer<typeof ProviderEntry>, 'models'> & { readonly id: string; readonly models: OfferedProvider['models'] }

function ownedBy(
  vendor: OfferedProvider | undefined,
  taken: ReadonlySet<string>,
  { id, name, env, npm, api, models }: Claim,
): OfferedProvider {
  if (vendor !== undefined) {
    const theirs = [...models].filter(([, model]) => model.npm === undefined || model.npm === vendor.npm)
    const plain = theirs.map(([model, { config }]): [string, OfferedModel] => [model, { config, npm: undefined, api: undefined }])
    return { ...vendor, name: name ?? vendor.name, models: new Map(plain) }
  }
  return {
    id,
    name: name ?? id,
    env: env.filter((variable) => KEY_VARIABLE.test(variable) && !taken.has(variable)).slice(0, 8),
    npm,
    api: safeAddress(api),
    models,
  }
}

/** Keys are sent there: over TLS, or to this machine. */
function safeAddress(api: string | undefined): string | undefined {
  if (api === undefined || !URL.canParse(api)) return undefined
  const { protocol, hostname } = new URL(api)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  if (api.includes('${')) return undefined
  return protocol === 'https:' || (protocol === 'http:' && isLoopback) ? api : undefined
}

function* readModels(entries: Readonly<Record<string, unknown>>, room: number): Generator<void, Map<string, OfferedModel>> {
  const models = new Map<string, OfferedModel>()
  for (const [id, value] of Object.entries(entries)) {
    const parsed = MODEL_ID.test(id) ? ModelEntry.safeParse(value) : undefined
    if (parsed?.success !== true) continue
    for (const [name, model] of withModes(id, parsed.data)) if (models.size < room) models.set(name, model)
    if (models.size % TOGETHER === 0) yield
  }
  return models
}

/** The model itself, and one more for each of its modes. */
function withModes(id: string, entry: ModelEntry): [string, OfferedModel][] {
  const modes = Object.entries(entry.experimental?.modes ?? {}).flatMap(([mode, value]): [string, OfferedModel][] => {
    const parsed = Mode.safeParse(value)
    if (!parsed.success || !MODEL_ID.test(mode)) return []
    const { cost, provider } = parsed.data
    const merged: ModelEntry = {
      ...entry,
      name: `${entry.name ?? id} ${mode}`,
      cost: cost === undefined ? entry.cost : { ...(entry.cost ?? FREE), ...given(cost) },
      provider: {
        ...entry.provider,
        body: { ...entry.provider?.body, ...provider?.body },
        headers: { ...entry.provider?.headers, ...provider?.headers },
      },
    }
    return [[`${id}-${mode}`, toModel(id, merged)]]
  })
  return [[id, toModel(id, entry)], ...modes]
}

function toModel(wireId: string, entry: ModelEntry): OfferedModel {
  const { name, family, attachment, reasoning, temperature, interleaved, cost, limit, modalities, status, provider } = entry
  const headers = Object.entries(provider?.headers ?? {}).filter(([header]) => !CREDENTIAL_HEADER.test(header))
  const config: ModelConfig = {
    id: wireId,
    name: name ?? wireId,
    family,
    attachment,
    reasoning,
    temperature,
    interleaved,
    status,
    limit,
    toolCall: entry.tool_call,
    releaseDate: entry.release_date,
    cost: cost && { ...toRates(cost), experimentalOver200k: cost.context_over_200k && toRates(cost.context_over_200k) },
    modalities: modalities && { input: modalities.input?.filter(isModality), output: modalities.output?.filter(isModality) },
    options: provider?.body ?? {},
    headers: Object.fromEntries(headers),
  }
  return { config, npm: provider?.npm, api: safeAddress(provider?.api) }
}

function toRates({ input, output, cache_read: read = 0, cache_write: write = 0 }: z.infer<typeof FlatRates>) {
  return { input, output, cache: { read, write } }
}

/** The rates that are there. */
function given(rates: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(rates).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

function isModality(name: string): name is Modality {
  return Modality.options.some((modality) => modality === name)
}
