/** The service inside of another command; built into the bundle of the server, where `commands/serve/serve.ts` hands it on. */
import { scrubEnvironment } from '../platform/node/environment.js'
import { createNodeEffects, type NodeEffectsOptions } from '../platform/node/node-effects.js'
import { type RunningService, type ServiceOptions, startService } from '../server/composition.js'

export interface Inside {
  /** May be called again after it has failed. Errors are of the class that this bundle has, which is not that of the caller. */
  start(options: ServiceOptions): Promise<RunningService>
  /** Its state directory. */
  readonly state: string
}

/** Reads the environment, once, and leaves no credential in it. `log`: where lines go. */
export function prepareInside(log: NodeEffectsOptions): Inside {
  const effects = createNodeEffects(log)
  scrubEnvironment()
  return { start: (options) => startService(effects, options), state: effects.paths.state }
}
