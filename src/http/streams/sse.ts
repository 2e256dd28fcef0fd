/**
 * Event streams over HTTP: frames in, bytes out (sessions-events §11.2, §11.8; threat-model §7).
 *
 * Owns the answers it has opened and one timer for all of them; does not know what a frame says.
 * I1 Frames reach the socket in the order they were written.
 * I2 What is written in one turn of the event loop leaves at its end, in one write for each reader. For few readers a frame that is awaited
 *    leaves at once, one that grows after a silence, with what was written before it, so that it does not wait for the work that comes with
 *    it; for many, whatever comes within some milliseconds leaves together, as a write costs more than what is in it. Readers with equal frames share the
 *    joined bytes.
 * I3 No stream is silent for longer than the heartbeat, and none keeps bytes that its peer does not take for longer than the write stall.
 * I4 `onClose` runs exactly once, whoever ended the stream.
 */
import { type Alarm, createAlarm } from '../../kernel/alarm.js'
import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Clock } from '../../ports/effects.js'
import type { FrameSink, Urgency } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
import { type Batch, batchWith, emptyBatch, joinedBatch } from './batches.js'
import { createReaderBudget, type ReaderBudget } from './reader-budget.js'
import { untilWritable } from './writable.js'

interface EventStream extends FrameSink {
  /** Sends the head and what was written so far; before that nothing has left, and an error answer is still possible. */
  open(headers: Readonly<Record<string, string>>, onClose: (how: 'left' | 'stalled') => void): void
}

export interface EventStreams {
  /** A stream of a caller that answers on `raw`, not yet open. */
  create(raw: ServerResponse, caller: string): EventStream
  /** Ends every open stream (orderly stop). */
  endAll(): void
  readonly size: number
}

export interface EventStreamEffects {
  readonly clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'>
  /** Runs a callback once the present turn of the event loop has done its reading. */
  readonly soon: (run: () => void) => void
}

/** One answer as a stream. */
interface Live {
  readonly raw: ServerResponse
  readonly share: ReturnType<ReaderBudget['join']>
  /** Where its bytes go: once its head has left, past the answer to the socket itself. */
  out: Writable
  /** Not yet written to it. */
  batch: Batch
  phase: 'collecting' | 'open' | 'closed'
  /** It was ended before it was open. */
  endsAtOnce: boolean
  lastWrite: number
  /** Bytes the peer had taken when we last looked, and since when that has not changed. */
  taken: number
  stalledSince: number | undefined
  /** How its closing is told: its peer leaves, unless it does not take what it is sent. */
  leaves: 'left' | 'stalled'
}

/** All streams, and what they have in common. */
interface Streams extends EventStreamEffects {
  readonly open: Set<Live>
  readonly tending: Alarm
  /** Those that are written to in the next round. */
  dirty: Set<Live>
  /** Set while the next round waits. */
  readonly pause: Alarm
  /** The next round is at the end of this turn. */
  isSoon: boolean
  /** Where everybody is who has nothing to be written. */
  readonly none: Batch
}

const HEARTBEAT = Buffer.from(':\n\n')
const SHORTEST_WAIT = 100
/** Silence, in ms, after which a frame that is awaited waits for no others; where there are no more readers than these. */
const SILENCE = 5
const FEW = 16
/** How many readers make what is written wait a millisecond longer, and the longest that it waits. */
const READERS_PER_MS = 25
const LONGEST_PAUSE = 20
/** Bytes for one reader that do not wait. */
const LARGE = 64 * 1024

const HEAD: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  connection: 'close',
}

export function createEventStreams({ clock, soon }: EventStreamEffects): EventStreams {
  const tending = createAlarm(clock, () => tend(streams))
  const pause = createAlarm(clock, () => round(streams))
  const streams: Streams = { clock, soon, open: new Set(), dirty: new Set(), tending, pause, isSoon: false, none: emptyBatch() }
  const budget = createReaderBudget()
  return {
    create(raw, caller) {
      const live: Live = {
        raw,
        share: budget.join(caller, { pending: () => pendingOf(live), cut: () => cut(live) }),
        out: raw,
        batch: streams.none,
        phase: 'collecting',
        endsAtOnce: false,
        lastWrite: clock.monotonic(),
        taken: 0,
        stalledSince: undefined,
        leaves: 'left',
      }
      raw.once('close', () => live.share.leave())
      return {
        open: (headers, onClose) => open(streams, live, headers, onClose),
        write: (frame, urgency) => write(streams, live, frame, urgency),
        pending: () => pendingOf(live),
        room: live.share.room,
        async drained() {
          flush(streams, live)
          if (live.phase === 'open') await untilWritable(live.out)
        },
        end: () => end(streams, live),
      }
    },
    endAll() {
      for (const live of streams.open) end(streams, live)
    },
    get size() {
      return streams.open.size
    },
  }
}

/** Heartbeats and stalled peers; asks to be called again when the next stream is due. */
function tend({ clock, open, tending }: Streams): void {
  const now = clock.monotonic()
  let next = Number.POSITIVE_INFINITY
  for (const live of open) {
    if (isStalled(live, now)) {
      cut(live)
      continue
    }
    if (now - live.lastWrite >= LIMITS.events.heartbeat) {
      if (live.out.writableLength === 0 && !live.raw.writableEnded) live.out.write(HEARTBEAT)
      live.lastWrite = now
    }
    next = Math.min(next, live.lastWrite + LIMITS.events.heartbeat)
    if (live.stalledSince !== undefined) next = Math.min(next, live.stalledSince + LIMITS.events.writeStall)
  }
  if (open.size > 0) tending.set(Math.max(SHORTEST_WAIT, next - now))
}

function cut(live: Live): void {
  live.leaves = 'stalled'
  live.raw.destroy()
}

function pendingOf({ out, phase, batch }: Live): number {
  return batch.bytes + (phase === 'collecting' ? 0 : out.writableLength)
}

function open(streams: Streams, live: Live, headers: Readonly<Record<string, string>>, onClose: (how: 'left' | 'stalled') => void): void {
  const { raw } = live
  const { tending } = streams
  if (raw.destroyed) {
    live.phase = 'closed'
    onClose('left')
    return
  }
  live.phase = 'open'
  streams.open.add(live)
  raw.once('close', () => {
    live.phase = 'closed'
    live.batch = streams.none
    streams.open.delete(live)
    streams.dirty.delete(live)
    if (streams.open.size === 0) for (const alarm of [tending, streams.pause]) alarm.clear()
    onClose(live.leaves)
  })
  // The end of the connection ends the stream: no chunk framing, and nothing of the answer is left to keep once its head has left.
  raw.useChunkedEncodingByDefault = false
  raw.writeHead(200, { ...headers, ...HEAD })
  const out = raw.socket ?? raw
  out.cork()
  raw.flushHeaders()
  live.out = out
  flush(streams, live)
  out.uncork()
  if (!tending.isSet) tending.set(LIMITS.events.heartbeat)
  if (live.endsAtOnce) end(streams, live)
}

/** I2 */
function write(streams: Streams, live: Live, frame: Uint8Array, urgency: Urgency | undefined): void {
  if (live.phase === 'closed' || live.endsAtOnce) return
  const isFirst = live.batch.frame === undefined
  live.batch = batchWith(live.batch, frame)
  live.share.wrote(frame.byteLength)
  if (live.phase === 'collecting') return
  if (urgency !== undefined && leavesAtOnce(streams, live, urgency)) return flush(streams, live)
  if (isFirst) {
    streams.dirty.add(live)
    plan(streams)
  }
  if (live.batch.bytes > LARGE) writeSoon(streams)
}

/** I2 */
function leavesAtOnce({ open, clock }: Streams, { lastWrite }: Live, urgency: Urgency): boolean {
  return open.size <= FEW && (urgency === 'whole' || clock.monotonic() - lastWrite >= SILENCE)
}

/** Few are written to at the end of the turn, many after a pause. */
function plan(streams: Streams): void {
  const { open, pause } = streams
  if (streams.isSoon || pause.isSet) return
  const wait = Math.min(LONGEST_PAUSE, Math.floor(open.size / READERS_PER_MS))
  if (wait > 0) pause.set(wait)
  else writeSoon(streams)
}

function writeSoon(streams: Streams): void {
  if (streams.isSoon) return
  streams.isSoon = true
  streams.pause.clear()
  streams.soon(() => round(streams))
}

function round(streams: Streams): void {
  const { dirty, none } = streams
  streams.isSoon = false
  streams.dirty = new Set()
  for (const live of dirty) flush(streams, live)
  none.next = undefined
}

function flush(streams: Streams, live: Live): void {
  const { raw, out, phase, batch } = live
  if (phase !== 'open' || batch.frame === undefined || raw.destroyed) return
  live.batch = streams.none
  live.lastWrite = streams.clock.monotonic()
  if (!out.write(joinedBatch(batch))) live.stalledSince ??= live.lastWrite
}

function end(streams: Streams, live: Live): void {
  if (live.phase === 'collecting') live.endsAtOnce = true
  if (live.phase !== 'open') return
  flush(streams, live)
  live.raw.end()
  live.phase = 'closed'
}

function isStalled(live: Live, now: number): boolean {
  const waiting = live.out.writableLength
  const taken = (live.raw.socket?.bytesWritten ?? 0) - waiting
  if (waiting === 0 || taken !== live.taken) {
    live.taken = taken
    live.stalledSince = waiting === 0 ? undefined : now
    return false
  }
  live.stalledSince ??= now
  return now - live.stalledSince >= LIMITS.events.writeStall
}
