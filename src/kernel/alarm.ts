/** One timer that is set, set again, cleared, and in the end never set again. Its owner asks it, instead of keeping a handle and a flag. */
export interface Timers {
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(handle: unknown): void
}

export interface Alarm {
  /** Rings once, `ms` from now; what it was set to is forgotten. Nothing once it is over. */
  set(ms: number): void
  clear(): void
  /** Clears it for good. */
  end(): void
  readonly isSet: boolean
  readonly isOver: boolean
}

export function createAlarm(clock: Timers, ring: () => void): Alarm {
  let state: 'resting' | 'over' | { readonly handle: unknown } = 'resting'
  const clear = (): void => {
    if (typeof state === 'string') return
    clock.clearTimeout(state.handle)
    state = 'resting'
  }
  return {
    set(ms) {
      clear()
      if (state === 'over') return
      const handle = clock.setTimeout(() => {
        state = 'resting'
        ring()
      }, ms)
      state = { handle }
    },
    clear,
    end() {
      clear()
      state = 'over'
    },
    get isSet() {
      return typeof state !== 'string'
    },
    get isOver() {
      return state === 'over'
    },
  }
}
