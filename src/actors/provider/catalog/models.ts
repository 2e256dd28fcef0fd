/** Model records with every default filled in (subsystems b.3, c.2). */
import * as z from 'zod'
import { asDeclared } from '../../../protocol/text/leniency.js'
import type { ProviderModel } from '../../../protocol/provider/provider.js'
import { anyRecord, uint } from '../../../protocol/shared.js'
import { publicAddress, publicRecord } from '../../../protocol/text/secrets.js'
import type { ProviderContribution } from '../../../ports/plugin.js'

/** What a model takes over from its provider. */
export interface ModelOwner {
  readonly id: string
  readonly npm: string
  readonly auth: 'none' | 'optional' | 'required'
  readonly baseURL: string | undefined
  readonly compatibility: { readonly streamUsage: boolean; readonly reasoningEffort: boolean }
}

export interface Via {
  readonly npm: string
  readonly baseURL: string | undefined
  /** Undefined when no adapter serves `npm`. */
  readonly contribution: ProviderContribution | undefined
}

export interface CatalogModel {
  /** What clients see. */
  readonly record: ProviderModel
  /** Id the endpoint knows the model by. */
  readonly wireId: string
  /** Request options and headers as configured, secrets included. */
  readonly options: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly variants: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** How it is reached, when that is not how its provider is. */
  readonly via?: Via
}

export const rate = z.number().min(0)
const CacheRates = z.looseObject({ read: rate.default(0), write: rate.default(0) })
const Rates = z.looseObject({ input: rate.default(0), output: rate.default(0), cache: CacheRates.prefault({}) })
export const Modality = z.enum(['text', 'audio', 'image', 'video', 'pdf'])
export type Modality = z.infer<typeof Modality>

const ModelConfig = z.looseObject({
  id: z.string().min(1).optional(),
  name: z.string().optional(),
  family: z.string().optional(),
  attachment: z.boolean().default(false),
  reasoning: z.boolean().default(false),
  temperature: z.boolean().default(true),
  toolCall: z.boolean().default(true),
  interleaved: z.union([z.boolean(), z.looseObject({ field: z.string().min(1) })]).default(false),
  modalities: z.looseObject({ input: z.array(Modality).optional(), output: z.array(Modality).optional() }).optional(),
  limit: z.looseObject({ context: uint.default(0), output: uint.default(0), input: uint.optional() }).prefault({}),
  cost: Rates.extend({ experimentalOver200k: Rates.extend({ cache: CacheRates.optional() }).optional() }).prefault({}),
  status: z.enum(['alpha', 'beta', 'deprecated', 'active']).default('active'),
  releaseDate: z.string().default(''),
  options: anyRecord.default({}),
  headers: z.record(z.string(), z.string()).default({}),
  variants: z.record(z.string(), anyRecord).optional(),
  compaction: anyRecord.optional(),
})
export type ModelConfig = z.input<typeof ModelConfig>

/** A configured model, or undefined when the entry cannot be read. */
export function readModelConfig(value: unknown): ModelConfig | undefined {
  const parsed = ModelConfig.safeParse(asDeclared(ModelConfig, value))
  return parsed.success ? parsed.data : undefined
}

const EFFORTS = ['low', 'medium', 'high']

/** The model `id` of a provider; what `config` leaves out gets the defaults of a discovered model (subsystems c.4). */
export function makeModel(provider: ModelOwner, id: string, config: ModelConfig): CatalogModel {
  const model = ModelConfig.parse(config)
  const wireId = model.id ?? id
  const { streamUsage, reasoningEffort } = provider.compatibility
  const variants = model.variants ?? (model.reasoning && reasoningEffort ? effortVariants() : {})
  return {
    wireId,
    options: model.options,
    headers: model.headers,
    variants,
    record: {
      id,
      providerId: provider.id,
      name: model.name ?? id,
      api: {
        id: wireId,
        url: publicAddress(provider.baseURL),
        npm: provider.npm,
        auth: provider.auth,
        toolCall: model.toolCall,
        streamUsage,
        reasoningEffort,
      },
      releaseDate: model.releaseDate,
      status: model.status,
      ...(model.family === undefined ? {} : { family: model.family }),
      capabilities: {
        attachment: model.attachment,
        reasoning: model.reasoning,
        temperature: model.temperature,
        toolCall: model.toolCall,
        input: modalities(model.modalities?.input ?? (model.attachment ? ['text', 'image', 'pdf'] : ['text'])),
        output: modalities(model.modalities?.output ?? ['text']),
        interleaved: model.interleaved,
      },
      cost: model.cost,
      limit: model.limit,
      options: publicRecord(model.options),
      headers: publicHeaders(model.headers),
      ...(Object.keys(variants).length === 0 ? {} : { variants }),
      ...(model.compaction === undefined ? {} : { compaction: model.compaction }),
    },
  }
}

function effortVariants(): Record<string, Record<string, unknown>> {
  return Object.fromEntries(EFFORTS.map((effort) => [effort, { reasoningEffort: effort }]))
}

function modalities(given: readonly string[]): Record<string, boolean> {
  return Object.fromEntries(Modality.options.map((modality) => [modality, given.includes(modality)]))
}

function publicHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = publicRecord(headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name in shown))
}
