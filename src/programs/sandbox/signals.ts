/** The words both threads share: whether the script has to stop, and how many answers have come for it. */

export const STOP = { none: 0, cancelled: 1, outOfTime: 2 } as const
export type Stop = (typeof STOP)[keyof typeof STOP]

export interface Signals {
  readonly buffer: SharedArrayBuffer
  /** Tells the script to stop at its next check, or to go on, and wakes it from waiting. */
  setStop(stop: Stop): void
  readonly stop: number
  /** An answer for a waiting script has been posted. */
  ring(): void
  /** Grows whenever it rings or the script is told something: who waits for more than what it read last misses neither. */
  readonly rung: number
  /** Waits while `rung` is what it was, `ms` at most. */
  wait(rung: number, ms: number): void
}

const STOP_WORD = 0
const RUNG_WORD = 1

/** Over new memory, or over that of the other thread. */
export function createSignals(buffer = new SharedArrayBuffer(8)): Signals {
  const words = new Int32Array(buffer)
  const ring = (): void => {
    Atomics.add(words, RUNG_WORD, 1)
    Atomics.notify(words, RUNG_WORD)
  }
  return {
    buffer,
    setStop(stop) {
      Atomics.store(words, STOP_WORD, stop)
      ring()
    },
    get stop() {
      return Atomics.load(words, STOP_WORD)
    },
    ring,
    get rung() {
      return Atomics.load(words, RUNG_WORD)
    },
    wait(rung, ms) {
      Atomics.wait(words, RUNG_WORD, rung, ms)
    },
  }
}
