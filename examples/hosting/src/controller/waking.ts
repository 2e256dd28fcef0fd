/** Asks for the worker of a workspace and waits until it can be spoken to. */
import type { Bindings } from '../database/bindings.js'
import type { BoundWorkspace } from '../database/rows.js'
import { isAwake, type Route, type Routes } from '../broker/routes.js'
import { nameOf, type WorkspaceKey } from '../records/machines.js'
import type { BindingsCache } from './bindings-cache.js'

export interface Waking {
  wake(key: WorkspaceKey): Promise<Route | undefined>
  /** Somebody should see whether it is still there. */
  doubt(key: WorkspaceKey): void
}

export function createWaking(
  {
    bindings,
    cache,
    routes,
    log,
  }: { bindings: Bindings; cache: BindingsCache; routes: Routes; log: (message: string, error: unknown) => void },
  wakeSeconds: number,
): Waking {
  /** One wait for all who come meanwhile. */
  const waking = new Map<string, Promise<Route | undefined>>()

  async function wake(key: WorkspaceKey): Promise<Route | undefined> {
    const signal = AbortSignal.timeout(wakeSeconds * 1000)
    await cache.get(key)
    for (;;) {
      const { revision } = (await bindings.intend(key, wanted)).binding
      // It is awake, or what was wanted before is done and it sleeps: then it is asked for again.
      const bound = await cache.until(
        key,
        (now) => now.binding.revision >= revision && (isAwake(now) || now.binding.pending == null),
        signal,
      )
      if (bound === undefined || bound.binding.retired) return undefined
      if (!isAwake(bound)) continue
      const route = await routes.of(bound)
      if (route !== undefined) return route
      // It was awake and did not answer: its owner looks, and tells.
      const asked = (await bindings.intend(key, (now) => (now.binding.retired ? undefined : 'ensure'))).binding.revision
      if ((await cache.until(key, ({ binding }) => binding.revision > asked, signal)) === undefined) return undefined
    }
  }

  return {
    wake(key) {
      const name = nameOf(key)
      const running = waking.get(name)
      if (running !== undefined) return running
      const begun = wake(key)
        .catch((error: unknown) => {
          log(`${name} could not be woken`, error)
          return undefined
        })
        .finally(() => waking.delete(name))
      waking.set(name, begun)
      return begun
    },
    doubt(key) {
      bindings
        .intend(key, ({ binding }) => (binding.retired || binding.pending != null ? undefined : 'ensure'))
        .catch((error: unknown) => {
          log(`${nameOf(key)} could not be asked for`, error)
        })
    },
  }
}

/** What is to be wanted for it to be awake; a wish to stop or to destroy stands until it is done. */
function wanted(bound: BoundWorkspace) {
  const { retired, pending } = bound.binding
  return retired || pending != null || isAwake(bound) ? undefined : 'ensure'
}
