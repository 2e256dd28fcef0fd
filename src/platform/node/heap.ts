/**
 * How much memory the process keeps for itself. A server that lives for days on somebody's laptop gives memory back
 * rather than letting garbage pile up to many times of what is in use.
 */
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Percent the old generation may grow beyond what is in use before it is collected. */
const GROWTH = 50
/** Room for young objects, bytes: less costs processor time, more costs memory. */
const YOUNG = 8 * 1024 * 1024
/** What is moved together at once, bytes: more would be a pause that is felt. */
const MOVED = 48 * 1024 * 1024

/** Call once, before much is allocated. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`)
  setFlagsFromString('--expose-gc')
  young.hold()
}

/** Ends the growth of the young generation once it has its room; the engine takes a fixed size only on its command line. */
export function boundYoungGeneration(): void {
  young.bound()
}

/**
 * For a program that draws what one person looks at: what is young keeps the room it has, and code is compiled once. Both cost a little processor time, of which
 * it has plenty, and save a third of its memory. Call before much is loaded: V8 compares its flags with those of what it has compiled already.
 */
export function stayLean(): void {
  young.hold()
  setFlagsFromString('--no-opt')
}

/** What V8 does as ever: a server is about to run in this process. */
export function stayLeanNoMore(): void {
  young.release()
  setFlagsFromString('--opt')
}

interface YoungGeneration {
  /** It keeps the size it has, until there is work: a start makes many young objects, and the room they had is never given back. */
  hold(): void
  /** As if it had never been held, by the entry of the program either. */
  release(): void
  /** There is work: it may grow, until it has its room. */
  bound(): void
}

export function createYoungGeneration(setFlag: (flag: string) => void, size: () => number): YoungGeneration {
  let phase: 'free' | 'held' | 'bounded' = 'free'
  const grow = (factor: number) => setFlag(`--semi-space-growth-factor=${factor}`)
  return {
    hold() {
      if (phase !== 'free') return
      phase = 'held'
      grow(1)
    },
    release() {
      if (phase === 'bounded') return
      phase = 'free'
      grow(2)
    },
    bound() {
      if (phase === 'bounded') return
      if (size() >= YOUNG) {
        if (phase === 'free') grow(1)
        phase = 'bounded'
      } else if (phase === 'held') {
        phase = 'free'
        grow(2)
      }
    },
  }
}

const young = createYoungGeneration(
  setFlagsFromString,
  () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0,
)

/**
 * Collects everything, and moves together what is left where it is little, as after a start: what was young for a short time lies scattered among what
 * stays. Takes some tens of milliseconds. Does nothing where the engine does not offer it.
 */
export function collectGarbage(): void {
  const collect: unknown = runInNewContext('typeof gc === "function" ? gc : undefined')
  if (!isCollector(collect)) return
  const isLittle = getHeapStatistics().used_heap_size < MOVED
  if (isLittle) setFlagsFromString('--compact-on-every-full-gc')
  collect()
  if (isLittle) setFlagsFromString('--no-compact-on-every-full-gc')
  // The second one gives emptied pages back to the system, which the first keeps.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

function isCollector(value: unknown): value is (options?: Readonly<Record<string, string>>) => void {
  return typeof value === 'function'
}
