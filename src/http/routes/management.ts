/** Managed resources (http-contract §5.7). */
import type { Runtime } from '../../ports/facades.js'
import { expectedOf } from '../../protocol/resource/expected.js'
import { managedAgentRoutes, managedCommandRoutes } from '../../protocol/resource/managed.js'
import { managedSkillRoutes as skillContracts } from '../../protocol/resource/managed-skills.js'
import {
  managedRepositoryRoutes as repositoryContracts,
  managedWorkspaceRoutes as workspaceContracts,
} from '../../protocol/workspace/workspaces.js'
import type { Binder } from '../bind.js'

export function managementRoutes(bind: Binder, { management }: Runtime): void {
  skillRoutes(bind, management)
  workspaceRoutes(bind, management)
  repositoryRoutes(bind, management)
  markdownRoutes(bind, management, managedAgentRoutes, management.agents)
  markdownRoutes(bind, management, managedCommandRoutes, management.commands)
}

function markdownRoutes(
  bind: Binder,
  { place }: Pick<Runtime['management'], 'place'>,
  contracts: typeof managedAgentRoutes | typeof managedCommandRoutes,
  kind: Runtime['management']['agents'],
): void {
  bind.json(contracts.list, ({ directory, query }) => kind.list(place(directory, { asked: query.scope })))
  bind.json(contracts.get, ({ directory, query, params, headers }) =>
    kind.get(place(directory, { asked: query.scope }), params.id, condition(query, headers)),
  )
  bind.json(contracts.create, ({ directory, query, params, headers, body }) =>
    kind.create(place(directory, { asked: query.scope, body: body.scope }), params.id, body, condition(query, headers)),
  )
  bind.json(contracts.update, ({ directory, query, params, headers, body }) =>
    kind.update(place(directory, { asked: query.scope, body: body.scope }), params.id, body, condition(query, headers)),
  )
  bind.json(contracts.delete, ({ directory, query, params, headers }) =>
    kind.delete(place(directory, { asked: query.scope }), params.id, condition(query, headers)),
  )
}

function skillRoutes(bind: Binder, { place, skills }: Runtime['management']): void {
  bind.json(skillContracts.list, ({ directory, query }) => skills.list(place(directory, { asked: query.scope })))
  bind.json(skillContracts.install, ({ directory, query, headers, body: { id, ...body } }) =>
    skills.create(place(directory, { asked: undefined, body: body.scope }), id, body, condition(query, headers)),
  )
  bind.json(skillContracts.get, ({ directory, query, params, headers }) =>
    skills.get(place(directory, { asked: query.scope }), params.id, condition(query, headers)),
  )
  bind.json(skillContracts.create, ({ directory, query, params, headers, body }) =>
    skills.create(place(directory, { asked: query.scope, body: body.scope }), params.id, body, condition(query, headers)),
  )
  bind.json(skillContracts.update, ({ directory, query, params, headers, body }) =>
    skills.update(place(directory, { asked: query.scope, body: body.scope }), params.id, body, condition(query, headers)),
  )
  bind.json(skillContracts.delete, ({ directory, query, params, headers }) =>
    skills.delete(place(directory, { asked: query.scope }), params.id, condition(query, headers)),
  )
  bind.json(skillContracts.versions, ({ directory, query, params }) => skills.versions(place(directory, { asked: query.scope }), params.id))
  bind.json(skillContracts.version, ({ directory, query, params }) =>
    skills.version(place(directory, { asked: query.scope }), params.id, params.version),
  )
  bind.json(skillContracts.restore, ({ directory, query, params, headers }) =>
    skills.restore(place(directory, { asked: query.scope }), params.id, params.version, {
      query: query.expectedRevision,
      ifMatch: headers['if-match'],
    }),
  )
}

function workspaceRoutes(bind: Binder, { requireOn, workspaces }: Runtime['management']): void {
  const on = () => {
    requireOn()
    return workspaces
  }
  bind.json(workspaceContracts.list, ({ caller }) => on().list(caller))
  bind.json(workspaceContracts.create, ({ caller, body }) => on().create(caller, body))
  bind.json(workspaceContracts.get, ({ caller, params }) => on().get(caller, params.id))
  bind.json(workspaceContracts.update, ({ caller, params, query, body, headers }) =>
    on().update(caller, params.id, body, condition(query, headers)),
  )
  bind.json(workspaceContracts.delete, ({ caller, params, query, headers }) => on().delete(caller, params.id, condition(query, headers)))
}

function repositoryRoutes(bind: Binder, { requireOn, repositories }: Runtime['management']): void {
  const on = () => {
    requireOn()
    return repositories
  }
  bind.json(repositoryContracts.list, ({ caller }) => on().list(caller))
  bind.json(repositoryContracts.create, ({ caller, body, signal }) => on().create(caller, body, signal))
  bind.json(repositoryContracts.get, ({ caller, params }) => on().get(caller, params.id))
  bind.json(repositoryContracts.update, ({ caller, params, query, body, headers }) =>
    on().update(caller, params.id, body, condition(query, headers)),
  )
  bind.json(repositoryContracts.delete, ({ caller, params, query, headers }) => on().delete(caller, params.id, condition(query, headers)))
}

/** What a call expects beside its body, which comes first where it says so as well. */
function condition(query: { expectedRevision?: string | undefined }, headers: { 'if-match'?: string | undefined }): string | undefined {
  return expectedOf(undefined, query.expectedRevision, headers['if-match'])
}
