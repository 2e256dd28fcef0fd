/** Limits of models that a plugin's provider lists without them and tells when asked (plugin-protocol §7.2). */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import { uint } from '../../../protocol/shared.js'
import type { Effects } from '../../../ports/effects.js'
import { waitAtMost } from '../../../kernel/patience.js'
import type { ProviderContribution } from '../../../ports/plugin.js'
import type { CatalogProvider } from './catalog.js'
import type { CatalogModel } from './models.js'

/** Models that are asked about at the same time. */
const AT_ONCE = 16

const Metadata = z.looseObject({
  limit: z.looseObject({ context: uint, output: uint, input: uint.nullish() }).nullish(),
})
type Limit = CatalogModel['record']['limit']
type Models = ReadonlyMap<string, CatalogModel>
type Known = Map<string, Limit | undefined>

/** Fills in what is missing; waits at most `metadataWait`, and what is learnt later serves the next time. */
export function createModelLimits(effects: Pick<Effects, 'clock' | 'log'>): (provider: CatalogProvider, models: Models) => Promise<Models> {
  const limits = new WeakMap<ProviderContribution, Known>()

  return async ({ id: providerId, contribution }, models) => {
    if (contribution?.metadata === undefined) return models
    const known: Known = limits.get(contribution) ?? new Map()
    limits.set(contribution, known)
    const ids = [...models.values()].filter(isUnlimited).map(({ record }) => record.id)
    const open = ids.filter((id) => !known.has(id)).slice(0, LIMITS.provider.discoverModels)
    for (const id of open) known.set(id, undefined)
    const learn = async (modelId: string): Promise<void> => {
      try {
        known.set(modelId, limitOf(await contribution.metadata?.({ providerId, modelId })))
      } catch (error) {
        effects.log.debug('a provider did not describe a model', { providerId, modelId, cause: String(error) })
      }
    }
    if (open.length > 0) await waitAtMost(effects.clock, eachOf(open, learn), LIMITS.plugins.metadataWait)
    return new Map(Array.from(models, ([modelId, model]) => [modelId, limited(model, known.get(modelId))]))
  }
}

function limitOf(metadata: unknown): Limit | undefined {
  const { limit } = Metadata.parse(metadata ?? {})
  if (limit == null) return undefined
  const { context, output, input } = limit
  return { context, output, ...(input == null ? {} : { input }) }
}

function isUnlimited({ record }: CatalogModel): boolean {
  return record.limit.context === 0
}

function limited(model: CatalogModel, limit: Limit | undefined): CatalogModel {
  return limit === undefined || !isUnlimited(model) ? model : { ...model, record: { ...model.record, limit } }
}

async function eachOf(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
