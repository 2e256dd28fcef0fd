/** Managed resources (http-contract §5.7). */
import type { ManagedMarkdown, Runtime } from '../../actors/facades.js'
import { managedAgentRoutes, managedCommandRoutes } from '../../protocol/management/management.js'
import type { Binder } from '../bind.js'

export function managementRoutes(bind: Binder, { management }: Runtime): void {
  markdownRoutes(bind, management, managedAgentRoutes, management.agents)
  markdownRoutes(bind, management, managedCommandRoutes, management.commands)
}

function markdownRoutes(
  bind: Binder,
  { place }: Pick<Runtime['management'], 'place'>,
  contracts: typeof managedAgentRoutes | typeof managedCommandRoutes,
  kind: ManagedMarkdown,
): void {
  bind.json(contracts.list, ({ directory, query }) => kind.list(place(directory, { asked: query.scope })))
  bind.json(contracts.get, ({ directory, query, params, headers }) =>
    kind.get(place(directory, { asked: query.scope }), params.id, headers['if-match']),
  )
  bind.json(contracts.create, ({ directory, query, params, headers, body }) =>
    kind.create(place(directory, { asked: query.scope, body: body.scope }), params.id, body, headers['if-match']),
  )
  bind.json(contracts.update, ({ directory, query, params, headers, body }) =>
    kind.update(place(directory, { asked: query.scope, body: body.scope }), params.id, body, headers['if-match']),
  )
  bind.json(contracts.delete, ({ directory, query, params, headers }) =>
    kind.delete(place(directory, { asked: query.scope }), params.id, headers['if-match']),
  )
}
