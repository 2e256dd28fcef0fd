/**
 * What a file says, as far as a server may go by it: what was written last and, until that must have been seen, what was there before.
 *
 * I1 A server that starts reads what is there. One that lives sees a change within `SEEN`, but for the time in which its disk fails.
 */

/** A moment in the life of a server. */
export interface Moment {
  readonly life: object
  /** ms of its monotonic clock. */
  readonly at: number
  /** Its disk fails, or has done so until just now. */
  readonly isShaken: boolean
}

/** A change of a file was seen after so many ms. */
export const SEEN = 2000

export interface Lately<T> {
  /** It was written. */
  say(value: T): void
  values(): readonly T[]
}

/** `seen`: another time within which it must have been seen, ms. */
export function createLately<T>(first: readonly T[], now: () => Moment, seen = SEEN): Lately<T> {
  const start: Moment = { life: {}, at: 0, isShaken: false }
  let said = first.map((value) => ({ value, since: start }))

  function forget(): void {
    const { life, at, isShaken } = now()
    const known = said.findLastIndex(({ since }) => since.life !== life || (!isShaken && at - since.at >= seen))
    said = said.slice(Math.max(0, known))
  }

  return {
    say(value) {
      forget()
      said.push({ value, since: now() })
    },
    values() {
      forget()
      return said.map(({ value }) => value)
    },
  }
}
