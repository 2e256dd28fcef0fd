/** Which model is used where nobody names one (sessions-events §4.8). */
import type { Effects } from '../../ports/effects.js'
import type { ModelRef } from '../../protocol/message/message.js'
import { type Catalog, defaultModelOf } from './catalog/catalog.js'
import type { CatalogModel } from './catalog/models.js'
import type { FoundModels } from './found-models.js'
import { obstacle } from './obstacle.js'

const OFFLINE: ModelRef = { providerId: 'svc', id: 'offline' }

interface Choosing {
  readonly env: Effects['env']
  readonly models: FoundModels
  tellOnce(problem: string): void
}

export async function chooseDefault(catalog: Catalog, { env, models, tellOnce }: Choosing): Promise<ModelRef> {
  const named = await models.named(catalog, catalog.model)
  if (named !== undefined) return { ...named, ...(catalog.variant === undefined ? {} : { variant: catalog.variant }) }
  const wish = wishedModel(env)
  const wished = wish?.model === undefined ? undefined : await models.named(catalog, wish.model)
  if (wished !== undefined) return wished
  const usable = catalog.providers.filter((provider) => provider.source !== 'builtin' && obstacle(provider, env) === undefined)
  const ofWish = usable.filter(({ id }) => wish?.model === undefined && id === wish?.provider)
  if (wish !== undefined && ofWish.length === 0) tellOnce(`${wish.said} of the environment cannot be used as the default model`)
  for (const provider of [...ofWish, ...usable]) {
    const found = [...(await models.all(provider, catalog)).values()].filter(isReachable)
    const id = defaultModelOf(found.map(({ record }) => record))
    if (id !== undefined) return { providerId: provider.id, id }
  }
  return OFFLINE
}

export function isReachable({ via }: CatalogModel): boolean {
  return via === undefined || via.contribution !== undefined
}

/** The model of this process where no configuration names one (sessions-events §4.8). `said`: what the variables say. */
function wishedModel(env: Effects['env']) {
  const [provider, model] = [env['SVC_AGENT_PROVIDER']?.trim() ?? '', env['SVC_AGENT_MODEL']?.trim() ?? '']
  if (provider === '' && model === '') return undefined
  const said = `"${[provider, model].filter((each) => each !== '').join('/')}"`
  if (provider === '' || model.startsWith(`${provider}/`)) return { provider, model, said }
  return model === '' ? { provider, said } : { provider, model: `${provider}/${model}`, said }
}
