/** Connections of providers (http-contract §5.3). No answer has a secret in it. */
import type { Runtime } from '../../ports/facades.js'
import { connectionRoutes as contracts } from '../../protocol/provider/connection.js'
import type { Binder } from '../bind.js'

export function connectionRoutes(bind: Binder, { connections }: Runtime): void {
  bind.json(contracts.has, ({ params, query }) => connections.has(params.provider_id, query.workspaceId))
  bind.json(contracts.set, ({ params, query, body }) => connections.set(params.provider_id, query.workspaceId, body))
  bind.json(contracts.unset, ({ params, query }) => connections.unset(params.provider_id, query.workspaceId))
  bind.json(contracts.list, ({ params, query }) => connections.list(params.provider_id, query.workspaceId))
  bind.json(contracts.create, ({ params, query, body }) => connections.create(params.provider_id, query.workspaceId, body))
  bind.json(contracts.rename, ({ params, query, body }) =>
    connections.rename(params.provider_id, query.workspaceId, { connectionId: params.connection_id, label: body.label }),
  )
  bind.json(contracts.remove, ({ params, query }) => connections.remove(params.provider_id, query.workspaceId, params.connection_id))
  bind.json(contracts.setDefault, ({ params, query }) =>
    connections.setDefault(params.provider_id, query.workspaceId, params.connection_id),
  )
}
