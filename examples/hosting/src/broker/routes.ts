/**
 * Where the worker of a workspace is, and that it is the one.
 *
 * I1 Nothing is sent to a worker that this controller has not asked itself who it is, once for each machine and address.
 * I2 What is still open to a worker ends when it is no longer the worker of its workspace.
 */
import type { BoundWorkspace } from '../database/rows.js'
import { nameOf, type WorkspaceKey } from '../records/machines.js'
import type { BindingsCache } from '../controller/bindings-cache.js'
import type { Workers } from '../controller/worker-client.js'

export interface Route {
  readonly bound: BoundWorkspace
  readonly baseUrl: URL
  /** What is open to it and has to be ended with it. */
  readonly open: Set<{ destroy(): unknown }>
}

export interface Routes {
  /** Undefined while the worker does not run, or is not yet known to be the one. */
  of(bound: BoundWorkspace): Route | Promise<Route | undefined> | undefined
}

export function isAwake({ binding, verification }: BoundWorkspace): boolean {
  const { status, pending, retired, allocation } = binding
  if (retired || pending === 'stop' || pending === 'destroy' || status?.ready !== true || status.connection == null) return false
  return verification !== null && verification.handle.generation === allocation.generation
}

export function createRoutes(cache: BindingsCache, workers: Workers): Routes {
  const routes = new Map<string, Route>()
  const checking = new Map<string, Promise<Route | undefined>>()

  cache.onChange((key) => {
    const route = routes.get(nameOf(key))
    const bound = cache.known(key)
    if (route !== undefined && bound !== undefined && !isSame(route.bound, bound)) close(key, route)
  })

  function close(key: WorkspaceKey, route: Route): void {
    routes.delete(nameOf(key))
    for (const each of route.open) each.destroy()
  }

  async function check(bound: BoundWorkspace): Promise<Route | undefined> {
    const { allocation, status } = bound.binding
    if (status?.connection == null || !(await workers.isGenuine(allocation, status.connection).catch(() => false))) return undefined
    const route: Route = { bound, baseUrl: new URL(status.connection.agent_api_base_url), open: new Set() }
    routes.set(nameOf(allocation.owner), route)
    return route
  }

  return {
    of(bound) {
      if (!isAwake(bound)) return undefined
      const name = nameOf(bound.binding.allocation.owner)
      const route = routes.get(name)
      if (route !== undefined && isSame(route.bound, bound)) return route
      const running = checking.get(name)
      if (running !== undefined) return running
      const checked = check(bound).finally(() => checking.delete(name))
      checking.set(name, checked)
      return checked
    },
  }
}

/** Whether both speak of one machine at one address, awake. */
function isSame(one: BoundWorkspace, other: BoundWorkspace): boolean {
  const identity = ({ binding, verification }: BoundWorkspace) =>
    JSON.stringify([binding.allocation.generation, binding.allocation.launch, binding.status?.connection, verification === null])
  return one === other || (isAwake(other) && identity(one) === identity(other))
}
