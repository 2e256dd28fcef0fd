/**
 * Where long work stops for others, so that the event loop goes round (threat-model X1, §7).
 *
 * I1 Those who wait go on in their order, one of them in a turn, or as many as a pace lets go on at once.
 */

/** Of all that is worked on at the same time, one part is done in a turn: calls that were made at once would otherwise have their parts in the same one. */
export type Pause = () => Promise<void>

/** What an operation waits for before it begins; undefined: nothing. */
export type Pace = () => Promise<void> | undefined

export interface PaceOptions {
  /** Milliseconds of a clock that never goes back. */
  now(): number
  /** Calls it in the next turn of the event loop. */
  readonly soon?: Soon
}

type Soon = (work: () => void) => unknown

/** How long work may keep the event loop, ms. */
const SLICE = 10
/** Those who wait for their pace and go on in one turn. */
const AT_ONCE = 32

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** Calls it in this turn of the event loop, once what is on its way to a socket by then is written. */
export function behindWrites(work: () => void): void {
  process.nextTick(() => process.nextTick(work))
}

/** Answers what work waits for between its parts; who waits first goes on first. */
export function createPause(soon: Soon = setImmediate): Pause {
  return createLine({ soon, atOnce: 1 }).wait
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

/**
 * For operations that are done at once, without waiting for the system: a caller who awaits one after the other would otherwise have all of them
 * in one turn of the event loop. Once a turn is older than a slice, whatever was done in it, an operation waits for another one.
 */
export function createPace({ now, soon = setImmediate }: PaceOptions): Pace {
  /** When this turn was first looked at. */
  let began: number | undefined
  const forget = () => void (began = undefined)
  const line = createLine({ soon, atOnce: AT_ONCE, onTurn: forget })
  return () => {
    if (began === undefined) {
      began = now()
      soon(forget)
    }
    return line.isEmpty && now() - began < SLICE ? undefined : line.wait()
  }
}

function createLine({ soon, atOnce, onTurn }: { readonly soon: Soon; readonly atOnce: number; readonly onTurn?: () => void }) {
  const waiting: (() => void)[] = []
  function next(): void {
    onTurn?.()
    // Taken out, so that however long others follow, no more is kept than waits.
    for (const goOn of waiting.splice(0, atOnce)) goOn()
    if (waiting.length > 0) soon(next)
  }
  return {
    wait: () =>
      new Promise<void>((resolve) => {
        if (waiting.push(resolve) === 1) soon(next)
      }),
    get isEmpty() {
      return waiting.length === 0
    },
  }
}
