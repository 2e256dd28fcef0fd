/** What reading costs, in bytes paid and in turns that others got: no clock is looked at. */
import { type Reading, SLICE, WorkExceeded } from '../../../src/kernel/work.js'

export interface Cost {
  /** What was read, or the sentence that says why it was not. */
  readonly outcome: unknown
  readonly paid: number
  /** The most that was paid at once: so much was done without a turn for others. */
  readonly largest: number
}

export function costOf(reading: Reading<unknown>, most = Number.POSITIVE_INFINITY): Cost {
  let paid = 0
  let largest = 0
  try {
    for (;;) {
      const piece = reading.next()
      if (piece.done === true) return { outcome: piece.value, paid, largest }
      paid += piece.value
      largest = Math.max(largest, piece.value)
      if (paid > most) throw new WorkExceeded('reading it takes more than is spent on it')
    }
  } catch (error) {
    return { outcome: error instanceof Error ? error.message : error, paid, largest }
  }
}

/** The most a reader may do without a turn for others. */
export const MOST_AT_ONCE = 16 * SLICE
/** What a byte of a text may cost, on top of a fixed price. */
const PER_BYTE = 2048
const FIXED = 4 * SLICE

/** What is wrong with a reader of texts that grow: it must pay for what it is given, not much at once, and in proportion. */
export function faultsOf(size: number, read: (size: number) => Reading<unknown>): string[] {
  const [one, two] = [costOf(read(size)), costOf(read(2 * size))]
  const faults: string[] = []
  const isRead = typeof one.outcome !== 'string'
  if (isRead && one.paid < size / 2) faults.push(`pays ${one.paid} for ${size} bytes`)
  if (Math.max(one.largest, two.largest) > MOST_AT_ONCE + 8 * size) faults.push(`does ${Math.max(one.largest, two.largest)} at once`)
  if (one.paid > FIXED + PER_BYTE * size) faults.push(`pays ${one.paid} for ${size} bytes`)
  if (two.paid > FIXED + 2.5 * one.paid) faults.push(`pays ${one.paid} for one text and ${two.paid} for one that is twice as long`)
  return faults
}

/** How often the event loop got its turn while something was done. */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ readonly turns: number; readonly outcome: T | string }> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  try {
    return { outcome: await work().catch((error: unknown) => (error instanceof Error ? error.message : String(error))), turns }
  } finally {
    isOver = true
  }
}
