/** One timer that is set, set again, cleared, and in the end never set again. Its owner asks it, instead of keeping a handle and a flag. */
export interface Timers {
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(handle: unknown): void
}

export interface Alarm {
  /** Rings once, `ms` from now; what it was set to is forgotten. Nothing once it is over. */
  readonly set: (ms: number) => void
  readonly clear: () => void
  /** Clears it for good. */
  readonly end: () => void
  readonly isSet: boolean
  readonly isOver: boolean
}

export function createAlarm(clock: Timers, ring: () => void): Alarm {
  return new OneAlarm(clock, ring)
}

/** A class, as there are many that are short-lived (`order.ts`, I2). What is asked of it may be handed on by itself: fields, no methods. */
class OneAlarm implements Alarm {
  readonly #clock: Timers
  readonly #ring: () => void
  #state: 'resting' | 'over' | { readonly handle: unknown } = 'resting'

  constructor(clock: Timers, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  readonly set = (ms: number): void => {
    this.clear()
    if (this.#state === 'over') return
    const handle = this.#clock.setTimeout(() => {
      this.#state = 'resting'
      this.#ring()
    }, ms)
    this.#state = { handle }
  }

  readonly clear = (): void => {
    if (typeof this.#state === 'string') return
    this.#clock.clearTimeout(this.#state.handle)
    this.#state = 'resting'
  }

  readonly end = (): void => {
    this.clear()
    this.#state = 'over'
  }

  get isSet(): boolean {
    return typeof this.#state !== 'string'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }
}
