/** System operations (http-contract §5.1). */
import type { Runtime } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
import { toOpenApi } from '../../protocol/openapi.js'
import { systemRoutes as contracts } from '../../protocol/system/system.js'
import { capabilitiesFor } from '../admission/hosted.js'
import type { Binder } from '../bind.js'

export function systemRoutes(bind: Binder, { system }: Runtime): void {
  let document: { readonly rawJson: string } | undefined
  bind.json(contracts.health, () => system.health())
  bind.json(contracts.meta, () => system.meta())
  bind.json(contracts.openapi, () => (document ??= { rawJson: JSON.stringify(toOpenApi()) }))
  bind.json(contracts.runtime, async ({ caller }) => ({
    ...system.runtime(),
    ...(caller.hosted === true && { executionAvailable: (await system.hostedExecution()) !== 'disabled' }),
  }))
  bind.json(contracts.identity, () => system.identity())
  bind.json(contracts.capabilities, async ({ caller, directory }) => capabilitiesFor(caller, await system.capabilities(directory)))
  bind.json(contracts.audit, ({ caller, query }) => system.audit(caller, query.limit ?? LIMITS.audit.pageDefault))
  bind.json(contracts.directories, ({ caller, query }) => system.directories(caller, query.path))
}
