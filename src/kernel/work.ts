/**
 * Reading what others wrote costs what it touches (threat-model X1, A6, §7): a reader is a generator that tells how many bytes it has
 * touched since it told so last, and whoever drives it pays.
 *
 * I1 After each slice of bytes the event loop gets its turn, however many pieces the slice is made of, and however large one is.
 * I2 Beyond its bytes work ends with `WorkExceeded`, before it touches more than one further piece.
 * I3 Of all work that goes on at once one slice is done in a turn of the event loop.
 */
import { createPause } from './pause.js'

/** Bytes touched since the last piece; what it reads is the answer at the end. */
export type Reading<T> = Generator<number, T, void>

export interface Work {
  /** Pays for bytes; resolves when work may go on. */
  pay(bytes: number): Promise<void>
  /** Drives a reader to its end. */
  read<T>(reading: Reading<T>): Promise<T>
}

/** Bytes that are touched before others have their turn: some milliseconds of work. */
export const SLICE = 256 * 1024
/** What a look at a file costs besides its bytes, and an entry of a list besides its text. */
export const LOOK = 4096
export const ENTRY = 64

export class WorkExceeded extends Error {}

const pause = createPause() // I3

/** `bytes`: all that may be touched. */
export function beginWork(bytes: number, giveWay: () => Promise<void> = pause): Work {
  let left = bytes
  let slice = SLICE

  async function pay(touched: number): Promise<void> {
    left -= touched
    slice -= touched
    if (left < 0) throw new WorkExceeded('reading it takes more than is spent on it')
    if (slice > 0) return
    slice = SLICE
    await giveWay()
  }

  return {
    pay,
    async read(reading) {
      for (;;) {
        const piece = reading.next()
        if (piece.done === true) return piece.value
        if (piece.value < slice && piece.value <= left) {
          left -= piece.value
          slice -= piece.value
        } else await pay(piece.value)
      }
    },
  }
}

/** Of a text that is small, or our own: in one go. */
export function readAtOnce<T>(reading: Reading<T>): T {
  for (;;) {
    const piece = reading.next()
    if (piece.done === true) return piece.value
  }
}
