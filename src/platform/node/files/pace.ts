/**
 * Operations on files that are done at once, without waiting for the system, give way all the same: a caller who awaits one after the other would
 * otherwise have all of them in one turn of the event loop (threat-model X1, §7).
 *
 * I1 Once a turn of the event loop is older than `SLICE`, whatever was done in it, an operation waits for another one.
 * I2 Those who wait go on in their order, `AT_ONCE` of them in a turn.
 */

/** What an operation waits for before it begins; undefined: nothing. */
export type Pace = () => Promise<void> | undefined

export interface PaceOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
  /** Calls it in the next turn of the event loop. */
  readonly soon?: (work: () => void) => unknown
}

const SLICE = 10
const AT_ONCE = 32

export function createPace({ now = () => performance.now(), soon = setImmediate }: PaceOptions = {}): Pace {
  /** When this turn was first looked at. */
  let began: number | undefined
  const waiting: (() => void)[] = []

  const forget = () => void (began = undefined)

  function next(): void {
    began = undefined
    // Taken out, so that however long others follow, no more is kept than waits.
    for (const goOn of waiting.splice(0, AT_ONCE)) goOn()
    if (waiting.length > 0) soon(next)
  }

  return () => {
    if (began === undefined) {
      began = now()
      soon(forget)
    }
    if (waiting.length === 0 && now() - began < SLICE) return undefined
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) soon(next)
    })
  }
}
