/**
 * Where long work stops for others: of all that is worked on at the same time, one part is done in a turn of the event loop. Calls that were
 * made at once would otherwise have their parts in the same turn.
 */
export type Pause = () => Promise<void>

/** How long work may keep the event loop, ms. */
const SLICE = 10

/** Answers what work waits for between its parts; who waits first goes on first. */
export function createPause(soon: (work: () => void) => unknown = setImmediate): Pause {
  const waiting: (() => void)[] = []
  const next = () => {
    waiting.shift()?.()
    if (waiting.length > 0) soon(next)
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) soon(next)
    })
}

/** Answers what work waits for after each small part: it pauses when a slice of time is used up. `monotonic` is a clock in ms. */
export function createSlices(monotonic: () => number, pause: Pause): () => Promise<void> | undefined {
  let began = monotonic()
  return () => {
    if (monotonic() - began < SLICE) return undefined
    return pause().then(() => {
      began = monotonic()
    })
  }
}
