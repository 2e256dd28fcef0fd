/**
 * How much memory the process keeps for itself. A server that lives for days on somebody's laptop gives memory back
 * rather than letting garbage pile up to many times of what is in use.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Percent the old generation may grow beyond what is in use before it is collected. */
const GROWTH = 30

/** Call once, before much is allocated: young objects get little room, old garbage is collected early. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--expose-gc')
}

/** Collects everything; takes some tens of milliseconds. Does nothing where the engine does not offer it. */
export function collectGarbage(): void {
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : undefined')
  if (typeof collect !== 'function') return
  collect()
  // Emptied pages go back to the system with the next collection only.
  setImmediate(() => collect())
}
