/** System operations (http-contract §5.1). */
import type { Runtime } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
import { toOpenApi } from '../../protocol/openapi.js'
import { METRICS_TYPE, systemRoutes as contracts } from '../../protocol/system/system.js'
import { capabilitiesFor } from '../admission/hosted.js'
import type { Binder } from '../bind.js'

export function systemRoutes(bind: Binder, { system, metrics }: Runtime): void {
  let document: { readonly rawJson: string } | undefined
  bind.json(contracts.health, () => system.health())
  bind.json(contracts.meta, () => system.meta())
  bind.json(contracts.openapi, () => (document ??= { rawJson: JSON.stringify(toOpenApi()) }))
  bind.raw(contracts.metrics, async (_call, _request, reply) => {
    const text = await metrics.read()
    reply.code(200).header('content-type', METRICS_TYPE).send(text)
  })
  bind.json(contracts.runtime, async ({ caller }) => ({
    ...system.runtime(),
    ...(caller.hosted === true && { executionAvailable: (await system.hostedExecution()) !== 'disabled' }),
  }))
  bind.json(contracts.identity, () => system.identity())
  bind.json(contracts.capabilities, async ({ caller, directory }) => capabilitiesFor(caller, await system.capabilities(directory)))
  bind.json(contracts.audit, ({ caller, query }) => system.audit(caller, query.limit ?? LIMITS.audit.pageDefault))
  bind.json(contracts.directories, ({ caller, query }) => system.directories(caller, query.path))
}
