/** A model that can be called. */
import type { Effects } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import type { ModelRef } from '../../protocol/message/message.js'
import type { Catalog, CatalogProvider } from './catalog/catalog.js'
import type { CatalogModel } from './catalog/models.js'
import type { Catalogs, CatalogsDeps } from './catalogs.js'
import type { FoundModels } from './found-models.js'
import { asSubscribed, namedConnection, withConnectionKey } from './keys.js'
import { obstacle } from './obstacle.js'
import { unknownModel, unknownProvider } from './unknown.js'

/** Where a session works, and in which workspace it says so. */
interface Where {
  readonly directory: string
  readonly workspaceId: string | undefined
  readonly sessionId: string | undefined
}

export interface Reached {
  readonly catalog: Catalog
  readonly provider: CatalogProvider
  readonly model: CatalogModel
  /** The provider as it is called for the model. */
  readonly reached: CatalogProvider
}

interface ReachDeps {
  readonly effects: Pick<Effects, 'env'>
  readonly contributions: CatalogsDeps['contributions']
  readonly catalogs: Catalogs
  readonly models: FoundModels
}

export function createReach({ effects, contributions, catalogs, models }: ReachDeps): (where: Where, ref: ModelRef) => Promise<Reached> {
  const isUsable = (provider: CatalogProvider) => obstacle(provider, effects.env) === undefined

  const find = async (
    catalog: Catalog,
    { directory, workspaceId, sessionId }: Where,
    ref: ModelRef,
  ): Promise<{ provider: CatalogProvider; model: CatalogModel }> => {
    const found = catalog.providers.find(({ id }) => id === ref.providerId)
    const connection =
      ref.connectionId === undefined
        ? undefined
        : namedConnection(await catalogs.credentials(), ref, await catalogs.workspacesOf(directory, workspaceId))
    if (found === undefined) throw unknownProvider(ref.providerId, catalog, isUsable)
    const provider = connection === undefined ? found : withConnectionKey(found, connection, await catalogs.installed())
    const reason = obstacle(provider, effects.env, await contributions(directory, sessionId))
    if (reason !== undefined) throw new SvcError('request.invalid', reason, { providerId: provider.id })
    const known = await models.find(provider, ref.id)
    const model = known && asSubscribed(provider, new Map([[ref.id, known]])).get(ref.id)
    if (model !== undefined) return { provider, model }
    throw unknownModel(provider, ref.id, await models.all(provider, { ...catalog, localModels: true }), catalog, isUsable)
  }

  return async (where, ref) => {
    const { directory, workspaceId, sessionId } = where
    let catalog = await catalogs.load(directory, workspaceId, sessionId)
    const { provider, model } = await find(catalog, where, ref).catch(async (error: unknown) => {
      catalog = await catalogs.loadNewest(directory, workspaceId, sessionId)
      return find(catalog, where, ref).catch(() => {
        throw error
      })
    })
    const reached = { ...provider, ...model.via }
    const reason = obstacle(reached, effects.env, await contributions(directory, sessionId))
    if (reason !== undefined) throw new SvcError('request.invalid', reason, { providerId: provider.id })
    return { catalog, provider, model, reached }
  }
}
