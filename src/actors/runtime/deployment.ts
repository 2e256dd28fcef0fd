/** What a server is for: its own user, the sharing of many who run nothing here, or one workspace of a controller's (subsystems d.9). */
import type { Effects } from '../../ports/effects.js'
import type { ModelBroker } from '../../ports/model-broker.js'
import type { HealthResponse, RuntimeInfo } from '../../protocol/system/system.js'
import { createFixedRegistry, createWorkspaceRegistry, type WorkspaceRegistry } from '../workspace/workspace-registry.js'

export interface Deployment {
  readonly name: HealthResponse['deployment']
  /** Whether agents and programs run here. */
  readonly executes: boolean
  /** What is not there because of that, and the routes it would have. */
  readonly absent?: readonly { readonly id: string; readonly apiPrefix?: string }[]
  /** Of a worker alone. */
  readonly worker?: NonNullable<RuntimeInfo['worker']>
  /** Who lends it credentials for models; absent = it has its own. */
  readonly models?: ModelBroker
}

export const LOCAL_DEPLOYMENT: Deployment = { name: 'local', executes: true }

/** A worker has the one workspace it is for. */
export function registryOf(effects: Pick<Effects, 'files' | 'paths' | 'clock'>, deployment: Deployment | undefined): WorkspaceRegistry {
  const worker = deployment?.worker
  if (worker === undefined) return createWorkspaceRegistry(effects)
  const now = effects.clock.now()
  return createFixedRegistry([{ id: worker.workspaceId, name: worker.workspaceId, root: worker.root, createdAt: now, updatedAt: now }])
}
