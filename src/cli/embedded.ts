/** The service inside of another command; built into the bundle of the server, where `commands/serve/serve.ts` hands it on. */
import { scrubEnvironment } from '../platform/node/environment.js'
import { createNodeEffects, type NodeEffectsOptions } from '../platform/node/node-effects.js'
import { type RunningService, type ServiceOptions, startService } from '../server/composition.js'

/** Errors are of the class that this bundle has, which is not that of the caller. `log`: where its lines go. */
export async function startInside(log: NodeEffectsOptions, options: ServiceOptions): Promise<{ service: RunningService; state: string }> {
  const effects = createNodeEffects(log)
  scrubEnvironment()
  return { service: await startService(effects, options), state: effects.paths.state }
}
