/**
 * Event streams over HTTP: frames in, bytes out (sessions-events §11.2, §11.8; threat-model §7).
 *
 * Owns the answers it has opened and one timer for all of them; does not know what a frame says.
 * I1 Frames reach the socket in the order they were written.
 * I2 The first frame after a silence leaves at once, so that it does not wait for the work that comes with it; those that follow it in one turn
 *    of the event loop leave in one write. Subscribers with equal frames share the joined bytes.
 * I3 No stream is silent for longer than the heartbeat, and none keeps bytes that its peer does not take for longer than the write stall.
 * I4 `onClose` runs exactly once, whoever ended the stream.
 */
import { type Alarm, createAlarm } from '../../kernel/alarm.js'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../ports/effects.js'
import type { FrameSink } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
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
  /** Not yet written to the socket. */
  frames: Uint8Array[]
  collected: number
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
  /** Those that write at the end of the turn. */
  readonly dirty: Set<Live>
  readonly join: ReturnType<typeof joinFrames>
  readonly tending: Alarm
}

const HEARTBEAT = Buffer.from(':\n\n')
const SHORTEST_WAIT = 100
/** Silence, in ms, after which a frame waits for no others. */
const SILENCE = 5

const HEAD: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  connection: 'close',
}

export function createEventStreams({ clock, soon }: EventStreamEffects): EventStreams {
  const tending = createAlarm(clock, () => tend(streams))
  const streams: Streams = { clock, soon, open: new Set(), dirty: new Set(), join: joinFrames(), tending }
  const budget = createReaderBudget()
  return {
    create(raw, caller) {
      const live: Live = {
        raw,
        share: budget.join(caller, { pending: () => pendingOf(live), cut: () => cut(live) }),
        frames: [],
        collected: 0,
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
        write: (frame) => write(streams, live, frame),
        pending: () => pendingOf(live),
        room: live.share.room,
        async drained() {
          flush(streams, live)
          if (live.phase === 'open') await untilWritable(raw)
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
      if (live.raw.writableLength === 0 && !live.raw.writableEnded) live.raw.write(HEARTBEAT)
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

function pendingOf({ raw, phase, collected }: Live): number {
  return collected + (phase === 'collecting' ? 0 : raw.writableLength)
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
    live.frames = []
    live.collected = 0
    streams.open.delete(live)
    streams.dirty.delete(live)
    if (streams.open.size === 0) tending.clear()
    onClose(live.leaves)
  })
  // The end of the connection ends the stream: no chunk framing, a third less work per write.
  raw.useChunkedEncodingByDefault = false
  raw.writeHead(200, { ...headers, ...HEAD })
  if (live.frames.length > 0) flush(streams, live)
  else raw.flushHeaders()
  if (!tending.isSet) tending.set(LIMITS.events.heartbeat)
  if (live.endsAtOnce) end(streams, live)
}

/** I2 */
function write(streams: Streams, live: Live, frame: Uint8Array): void {
  if (live.phase === 'closed' || live.endsAtOnce) return
  live.frames.push(frame)
  live.collected += frame.byteLength
  live.share.wrote(frame.byteLength)
  if (live.phase === 'collecting' || live.frames.length > 1) return
  if (streams.clock.monotonic() - live.lastWrite >= SILENCE) return flush(streams, live)
  if (streams.dirty.size === 0) streams.soon(() => flushAll(streams))
  streams.dirty.add(live)
}

function flushAll(streams: Streams): void {
  const { dirty, join } = streams
  const all = [...dirty]
  dirty.clear()
  for (const live of all) flush(streams, live)
  join.forget()
}

function flush({ clock, join }: Streams, live: Live): void {
  const { raw, phase, frames } = live
  if (phase !== 'open' || frames.length === 0 || raw.destroyed) return
  const bytes = join.of(frames)
  live.frames = []
  live.collected = 0
  live.lastWrite = clock.monotonic()
  if (!raw.write(bytes)) live.stalledSince ??= live.lastWrite
}

function end(streams: Streams, live: Live): void {
  if (live.phase === 'collecting') live.endsAtOnce = true
  if (live.phase !== 'open') return
  flush(streams, live)
  live.raw.end()
  live.phase = 'closed'
}

function isStalled(live: Live, now: number): boolean {
  const { socket } = live.raw
  const waiting = live.raw.writableLength
  const taken = (socket?.bytesWritten ?? 0) - waiting
  if (waiting === 0 || taken !== live.taken) {
    live.taken = taken
    live.stalledSince = waiting === 0 ? undefined : now
    return false
  }
  live.stalledSince ??= now
  return now - live.stalledSince >= LIMITS.events.writeStall
}

/** Joins frames to one buffer; equal lists asked for one after the other are joined once. */
function joinFrames(): { of(frames: readonly Uint8Array[]): Uint8Array; forget(): void } {
  let last: readonly Uint8Array[] = []
  let joined: Uint8Array = HEARTBEAT
  return {
    of(frames) {
      const [only] = frames
      if (only !== undefined && frames.length === 1) return only
      if (frames.length !== last.length || frames.some((frame, index) => frame !== last[index])) {
        last = frames
        joined = Buffer.concat(frames)
      }
      return joined
    },
    forget() {
      last = []
      joined = HEARTBEAT
    },
  }
}
