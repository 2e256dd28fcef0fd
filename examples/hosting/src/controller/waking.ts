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
  { bindings, cache, routes, log }: { bindings: Bindings; cache: BindingsCache; routes: Routes; log: (message: string, error: unknown) => void },
  wakeSeconds: number,
): Waking {
  /** One wait for all who come meanwhile. */
  const waking = new Map<string, Promise<Route | undefined>>()

  async function wake(key: WorkspaceKey): Promise<Route | undefined> {
    const signal = AbortSignal.timeout(wakeSeconds * 1000)
    await bindings.intend(key, (bound) => wanted(bound))
    for (;;) {
      const bound = await cache.until(key, isAwake, signal)
      if (bound === undefined) return undefined
      const route = await routes.of(bound)
      if (route !== undefined) return route
      // It was awake and did not answer: its owner looks, and tells.
      const { revision } = bound.binding
      await bindings.intend(key, (now) => (now.binding.retired ? undefined : 'ensure'))
      if ((await cache.until(key, ({ binding }) => binding.revision > revision, signal)) === undefined) return undefined
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
      bindings.intend(key, ({ binding }) => (binding.retired || binding.pending != null ? undefined : 'ensure')).catch((error: unknown) => {
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
