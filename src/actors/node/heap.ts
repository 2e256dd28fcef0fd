/**
 * How much memory the process keeps for itself. A server that lives for days on somebody's laptop gives memory back
 * rather than letting garbage pile up to many times of what is in use.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Percent the old generation may grow beyond what is in use before it is collected. */
const GROWTH = 50
/** Room for young objects, bytes: less costs processor time, more costs memory. */
const YOUNG = 8 * 1024 * 1024

/** Call once, before much is allocated. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
  setFlagsFromString('--expose-gc')
}

let bounded = false

/** Ends the growth of the young generation once it has its room; the engine takes a fixed size only on its command line. */
export function boundYoungGeneration(): void {
  if (bounded) return
  const size = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
  if (size < YOUNG) return
  setFlagsFromString('--semi-space-growth-factor=1')
  bounded = true
}

/** Collects everything; takes some tens of milliseconds. Does nothing where the engine does not offer it. */
export function collectGarbage(): void {
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : undefined')
  if (!isCollector(collect)) return
  collect()
  // The second one gives emptied pages back to the system, which the first keeps.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

function isCollector(value: unknown): value is (options?: Readonly<Record<string, string>>) => void {
  return typeof value === 'function'
}
