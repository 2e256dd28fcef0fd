/**
 * Who listens to what happens now, by audience: an event costs a look for each audience, and not for each reader of it.
 *
 * I1 Each reader gets what its audience hears in the order of the bus, all of it once. A few get it in the tick it is published; what many get
 *    waits for the end of the turn of the event loop and is one write for each of them.
 * I2 Who joins hears of nothing that lies before; what waits for others leaves first.
 * I3 A sink that throws ends its reader alone, which is told so.
 */
import { setImmediate } from 'node:timers'
import type { EventType } from '../../protocol/event/event.js'
import { LIMITS } from '../../protocol/limits.js'
import type { FrameSink, Urgency } from '../../ports/facades.js'
import type { Audience } from './audiences.js'
import type { Bus, BusRecord } from './bus.js'
import type { DeliveryReports } from './subscriptions.js'

/** What somebody waits to see grow. That a call begins comes with the call itself where an answer is read in one piece, and that is most of them. */
const GROWING: EventType = 'message.part.delta'
/** Readers of one audience who get each record by itself. */
const FEW = 16
/** Bytes that wait for no others. */
const LARGE = 64 * 1024
/** A reader's backlog is looked at once in so many records. */
const LAG_CHECK = 64

interface Reader extends DeliveryReports {
  readonly sink: Pick<FrameSink, 'write' | 'pending'>
  records: number
  bytes: number
  /** Of both, since its backlog was looked at. */
  unseen: { records: number; bytes: number }
}

interface Group {
  readonly readers: Set<Reader>
  /** What all of them are still to be written. */
  waiting: Uint8Array[]
  bytes: number
}

export interface Listeners {
  /** From now on; answers the function that ends it. */
  listen(audience: Audience, sink: Reader['sink'], reports: DeliveryReports): () => void
}

export function createListeners(bus: Bus): Listeners {
  const groups = new Map<Audience, { readonly group: Group; end(): void }>()

  function groupOf(audience: Audience) {
    const known = groups.get(audience)
    if (known !== undefined) return known
    const group: Group = { readers: new Set(), waiting: [], bytes: 0 }
    const leave = bus.subscribe(
      (record, isWhole) => {
        if (audience.hears(record)) take(group, record, isWhole)
      },
      () => {
        opened.end()
        for (const reader of group.readers) reader.failed()
      },
      () => group.readers.size,
    )
    const opened = {
      group,
      end() {
        leave()
        if (groups.get(audience) === opened) groups.delete(audience)
      },
    }
    groups.set(audience, opened)
    return opened
  }

  function take(group: Group, record: BusRecord, isWhole: boolean): void {
    const frame = record.frame()
    if (group.readers.size <= FEW) return deliver(group, frame, 1, isWhole ? 'whole' : record.type === GROWING ? 'growing' : undefined)
    group.waiting.push(frame)
    group.bytes += frame.byteLength
    if (group.bytes > LARGE) return flush(group)
    if (group.waiting.length === 1) setImmediate(() => flush(group))
  }

  function flush(group: Group): void {
    const { waiting, bytes } = group
    const [first] = waiting
    if (first === undefined) return
    group.waiting = []
    group.bytes = 0
    deliver(group, waiting.length === 1 ? first : Buffer.concat(waiting, bytes), waiting.length)
  }

  function deliver({ readers }: Group, frame: Uint8Array, records: number, urgency?: Urgency): void {
    for (const reader of readers) {
      try {
        send(reader, frame, records, urgency)
      } catch (error) {
        readers.delete(reader) // I3
        bus.report(error)
        reader.failed()
      }
    }
  }

  return {
    listen(audience, sink, { lagged, failed }) {
      const { group, end } = groupOf(audience)
      flush(group) // I2
      const reader: Reader = { sink, lagged, failed, records: 0, bytes: 0, unseen: { records: 0, bytes: 0 } }
      group.readers.add(reader)
      return () => {
        flush(group)
        group.readers.delete(reader)
        if (group.readers.size === 0) end()
      }
    },
  }
}

function send(reader: Reader, frame: Uint8Array, records: number, urgency: Urgency | undefined): void {
  const { sink, unseen } = reader
  sink.write(frame, urgency)
  reader.records += records
  reader.bytes += frame.byteLength
  unseen.records += records
  unseen.bytes += frame.byteLength
  if (unseen.records < LAG_CHECK && unseen.bytes < LIMITS.events.recordBytes) return
  unseen.records = 0
  unseen.bytes = 0
  const pending = sink.pending()
  if (pending > LIMITS.events.backlogBytes || (pending / reader.bytes) * reader.records > LIMITS.events.backlogRecords) reader.lagged()
}
