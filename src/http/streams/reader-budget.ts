/**
 * What readers of event streams may keep waiting: one budget of bytes for all readers of one caller (threat-model §7).
 *
 * I1 Who asks for more than its share costs its own readers: beyond the budget the one that has taken least of what it was sent is cut first.
 * I2 The bytes of all readers are added up only when so many were written that the budget may be used up.
 */
import { LIMITS } from '../../protocol/limits.js'

interface Reader {
  /** Bytes written but not yet taken by its peer. */
  pending(): number
  /** Ends it and what it keeps. */
  cut(): void
}

interface Share {
  /** Tells of bytes that were written. */
  wrote(bytes: number): void
  /** Bytes that may be sent at once of what is stored: all readers in replay together keep half of the budget, unless a record is larger. */
  room(): number
  leave(): void
}

export interface ReaderBudget {
  join(caller: string, reader: Reader): Share
}

interface Account {
  readonly readers: Set<Reader>
  /** No less than what all readers keep. */
  atMost: number
  /** Where that is looked at again. */
  lookAt: number
}

const { readerBytes: BUDGET, replayPageBytes: PAGE } = LIMITS.events
const SMALLEST_PAGE = PAGE / 32
const STEP = BUDGET / 64

export function createReaderBudget(): ReaderBudget {
  const accounts = new Map<string, Account>()

  /** I1, I2. */
  function settle(account: Account): void {
    const heaviest = [...account.readers].map((reader) => ({ reader, bytes: reader.pending() })).toSorted((a, b) => b.bytes - a.bytes)
    let sum = heaviest.reduce((total, { bytes }) => total + bytes, 0)
    for (const { reader, bytes } of heaviest) {
      if (sum <= BUDGET) break
      account.readers.delete(reader)
      reader.cut()
      sum -= bytes
    }
    account.atMost = sum
    account.lookAt = Math.max(BUDGET, sum + STEP)
  }

  return {
    join(caller, reader) {
      const account = accounts.get(caller) ?? { readers: new Set(), atMost: 0, lookAt: BUDGET }
      accounts.set(caller, account)
      account.readers.add(reader)
      return {
        wrote(bytes) {
          account.atMost += bytes
          if (account.atMost > account.lookAt) settle(account)
        },
        room: () => Math.max(SMALLEST_PAGE, Math.min(PAGE, Math.floor(BUDGET / 2 / Math.max(1, account.readers.size)))),
        leave() {
          account.readers.delete(reader)
          if (account.readers.size === 0 && accounts.get(caller) === account) accounts.delete(caller)
        },
      }
    },
  }
}
