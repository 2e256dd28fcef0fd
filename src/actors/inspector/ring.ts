/**
 * The one buffer between actors and viewers: the newest records, bounded in count and size.
 *
 * I1 Appending never waits and never fails; what no longer fits is dropped from the old end and counted.
 * I2 Sequence numbers grow by one, also across drops and `clear`.
 */
import type { InspectorRecord } from '../../protocol/system/inspector.js'

export interface RecordRing {
  /** Keeps the record that is made for the next number. */
  append(make: (sequence: number) => InspectorRecord): void
  /** At most `limit` records after the cursor, and how many before them are gone. */
  after(cursor: number, limit: number): { readonly records: readonly InspectorRecord[]; readonly dropped: number }
  /** Number of the last record ever appended; 0 before the first. */
  readonly sequence: number
  /** Records dropped since the ring was cleared. */
  readonly dropped: number
  readonly size: number
  readonly bytes: number
  clear(): void
}

/** What a record takes besides its texts, about. */
const OVERHEAD = 160

export function createRing(limits: { readonly records: number; readonly bytes: number }): RecordRing {
  let slots: (InspectorRecord | undefined)[] = []
  let first = 1
  let sequence = 0
  let bytes = 0
  let dropped = 0

  const at = (number: number) => slots[number % limits.records]

  function drop(): void {
    const record = at(first)
    if (record !== undefined) bytes -= sizeOf(record)
    slots[first % limits.records] = undefined
    first++
    dropped++
  }

  return {
    append(make) {
      const record = make(sequence + 1)
      const size = sizeOf(record)
      while (sequence + 1 - first > 0 && (sequence + 1 - first >= limits.records || bytes + size > limits.bytes)) drop()
      sequence++
      slots[sequence % limits.records] = record
      bytes += size
    },
    after(cursor, limit) {
      const from = Math.max(first, cursor + 1)
      const records: InspectorRecord[] = []
      for (let number = from; number <= sequence && records.length < limit; number++) {
        const record = at(number)
        if (record !== undefined) records.push(record)
      }
      return { records, dropped: Math.max(0, Math.min(from, sequence + 1) - cursor - 1) }
    },
    get sequence() {
      return sequence
    },
    get dropped() {
      return dropped
    },
    get size() {
      return sequence + 1 - first
    },
    get bytes() {
      return bytes
    },
    clear() {
      slots = []
      first = sequence + 1
      bytes = 0
      dropped = 0
    },
  }
}

function sizeOf({ actorId, event, shape, payload, sourceId }: InspectorRecord): number {
  return OVERHEAD + actorId.length + (event?.length ?? 0) + (shape?.length ?? 0) + 2 * (payload?.length ?? 0) + (sourceId?.length ?? 0)
}
