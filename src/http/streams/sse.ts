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
import { createAlarm } from '../../kernel/alarm.js'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../ports/effects.js'
import type { FrameSink } from '../../ports/facades.js'
import { LIMITS } from '../../protocol/limits.js'
import { createReaderBudget } from './reader-budget.js'
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

interface Live {
  readonly raw: ServerResponse
  lastWrite: number
  /** Bytes the peer had taken when we last looked, and since when that has not changed. */
  taken: number
  stalledSince: number | undefined
  /** How its closing is told: its peer leaves, unless it does not take what it is sent. */
  leaves: 'left' | 'stalled'
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
  const streams = new Map<EventStream, Live>()
  const dirty = new Set<() => void>()
  const join = joinFrames()
  const tending = createAlarm(clock, tend)
  const budget = createReaderBudget()

  /** Heartbeats and stalled peers; asks to be called again when the next stream is due. */
  function tend(): void {
    const now = clock.monotonic()
    let next = Number.POSITIVE_INFINITY
    for (const live of streams.values()) {
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
    if (streams.size > 0) tending.set(Math.max(SHORTEST_WAIT, next - now))
  }

  function cut(live: Live): void {
    live.leaves = 'stalled'
    live.raw.destroy()
  }

  function flushAll(): void {
    const flushes = [...dirty]
    dirty.clear()
    for (const flush of flushes) flush()
    join.forget()
  }

  function create(raw: ServerResponse, caller: string): EventStream {
    let frames: Uint8Array[] = []
    let collected = 0
    let phase: 'collecting' | 'open' | 'closed' = 'collecting'
    let endsAtOnce = false
    const live: Live = { raw, lastWrite: clock.monotonic(), taken: 0, stalledSince: undefined, leaves: 'left' }

    const pending = () => collected + (phase === 'collecting' ? 0 : raw.writableLength)
    const share = budget.join(caller, { pending, cut: () => cut(live) })
    raw.once('close', () => share.leave())

    function flush(): void {
      if (phase !== 'open' || frames.length === 0 || raw.destroyed) return
      const bytes = join.of(frames)
      frames = []
      collected = 0
      live.lastWrite = clock.monotonic()
      if (!raw.write(bytes)) live.stalledSince ??= live.lastWrite
    }

    const stream: EventStream = {
      open(headers, onClose) {
        if (raw.destroyed) {
          phase = 'closed'
          onClose('left')
          return
        }
        phase = 'open'
        streams.set(stream, live)
        raw.once('close', () => {
          phase = 'closed'
          frames = []
          collected = 0
          streams.delete(stream)
          dirty.delete(flush)
          if (streams.size === 0) tending.clear()
          onClose(live.leaves)
        })
        // The end of the connection ends the stream: no chunk framing, a third less work per write.
        raw.useChunkedEncodingByDefault = false
        raw.writeHead(200, { ...headers, ...HEAD })
        if (frames.length > 0) flush()
        else raw.flushHeaders()
        if (!tending.isSet) tending.set(LIMITS.events.heartbeat)
        if (endsAtOnce) stream.end()
      },
      write(frame) {
        if (phase === 'closed' || endsAtOnce) return
        frames.push(frame)
        collected += frame.byteLength
        share.wrote(frame.byteLength)
        if (phase === 'collecting' || frames.length > 1) return
        if (clock.monotonic() - live.lastWrite >= SILENCE) return flush()
        if (dirty.size === 0) soon(flushAll)
        dirty.add(flush)
      },
      pending,
      room: share.room,
      async drained() {
        flush()
        if (phase === 'open') await untilWritable(raw)
      },
      end() {
        if (phase === 'collecting') endsAtOnce = true
        if (phase !== 'open') return
        flush()
        raw.end()
        phase = 'closed'
      },
    }
    return stream
  }

  return {
    create,
    endAll() {
      for (const stream of streams.keys()) stream.end()
    },
    get size() {
      return streams.size
    },
  }
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
