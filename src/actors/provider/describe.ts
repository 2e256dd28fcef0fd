/** Limits of models that a plugin's provider lists without them and describes when asked (plugin-protocol §7.2). */
import { LIMITS } from '../../protocol/limits.js'
import { uint } from '../../protocol/shared.js'
import type { Effects } from '../effects.js'
import type { ModelDescription, ProviderContribution } from '../plugin/native.js'
import type { CatalogProvider } from './catalog.js'
import type { CatalogModel } from './models.js'

/** Models that are asked about at the same time. */
const AT_ONCE = 16

type Models = ReadonlyMap<string, CatalogModel>
type Known = Map<string, ModelDescription | undefined>

/** Fills in what is missing; waits at most `serviceWait`, and what is learnt later serves the next time. */
export function createDescriptions(
  effects: Pick<Effects, 'clock' | 'log'>,
): (provider: CatalogProvider, models: Models) => Promise<Models> {
  const descriptions = new WeakMap<ProviderContribution, Known>()

  return async ({ id, contribution }, models) => {
    if (contribution?.describe === undefined) return models
    const known: Known = descriptions.get(contribution) ?? new Map()
    descriptions.set(contribution, known)
    const unknown = [...models.values()].filter(isUnlimited).map(({ record }) => record.id)
    const open = unknown.filter((modelId) => !known.has(modelId)).slice(0, LIMITS.provider.discoverModels)
    for (const modelId of open) known.set(modelId, undefined)
    if (open.length > 0)
      await atMost(
        effects.clock,
        ask(contribution, open, known, (cause) => report(id, cause)),
      )
    return new Map(Array.from(models, ([modelId, model]) => [modelId, described(model, known.get(modelId))]))
  }

  function report(providerId: string, cause: string): void {
    effects.log.warn('a provider could not describe a model', { providerId, cause })
  }
}

async function ask(contribution: ProviderContribution, modelIds: readonly string[], known: Known, report: (cause: string) => void) {
  const left = [...modelIds]
  const worker = async (): Promise<void> => {
    for (let modelId = left.shift(); modelId !== undefined; modelId = left.shift()) {
      try {
        known.set(modelId, await contribution.describe?.(modelId))
      } catch (error) {
        report(String(error))
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function isUnlimited({ record }: CatalogModel): boolean {
  return record.limit.context === 0
}

function described(model: CatalogModel, description: ModelDescription | undefined): CatalogModel {
  const limit = description?.limit
  if (limit === undefined || !isUnlimited(model) || !uint.safeParse(limit.context).success || !uint.safeParse(limit.output).success)
    return model
  return { ...model, record: { ...model.record, limit: { ...limit } } }
}

async function atMost(clock: Effects['clock'], work: Promise<void>): Promise<void> {
  let timer: unknown
  const late = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, LIMITS.plugins.serviceWait)
  })
  await Promise.race([work, late])
  clock.clearTimeout(timer)
}
