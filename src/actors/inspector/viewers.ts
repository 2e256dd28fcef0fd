/**
 * Readers of the ring. A viewer is a cursor, not a queue: one that does not keep up misses records and is told how many.
 *
 * I1 Records leave at once after a pause, and otherwise `batch` after those before them, many in one frame.
 * I2 A viewer that has not taken `viewerBacklog` bytes is sent nothing until it has.
 */
import { createAlarm } from '../../kernel/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Clock } from '../../ports/effects.js'
import type { EventSubscription, FrameSink } from '../../ports/facades.js'
import type { RecordRing } from './ring.js'

export interface Viewers {
  /** Reads from the cursor on; without one, from now. `onLeft` runs once. */
  add(sink: FrameSink, since: number | undefined, onLeft: () => void): EventSubscription
  /** Something was appended. */
  wake(): void
  readonly size: number
}

interface Viewer {
  readonly sink: FrameSink
  cursor: number
}

export function createViewers({
  ring,
  clock,
}: {
  readonly ring: RecordRing
  readonly clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'>
}): Viewers {
  const viewers = new Set<Viewer>()
  const encoder = new TextEncoder()
  const next = createAlarm(clock, flush)
  let flushedAt = Number.NEGATIVE_INFINITY

  function rearm(): void {
    if (!next.isSet) next.set(Math.max(0, flushedAt + LIMITS.inspector.batch - clock.monotonic()))
  }

  function flush(): void {
    flushedAt = clock.monotonic()
    let isBehind = false
    for (const viewer of viewers) isBehind = !send(viewer) || isBehind
    if (isBehind) rearm()
  }

  /** Answers whether the viewer has seen everything. */
  function send(viewer: Viewer): boolean {
    const { sink, cursor } = viewer
    if (cursor === ring.sequence) return true
    if (sink.pending() > LIMITS.inspector.viewerBacklog) return false
    write(viewer, cursor)
    return viewer.cursor === ring.sequence
  }

  function write(viewer: Viewer, cursor: number): void {
    const { records, dropped } = ring.after(cursor, LIMITS.inspector.frameRecords)
    viewer.cursor = records.at(-1)?.sequence ?? ring.sequence
    const data = JSON.stringify({ records, dropped })
    viewer.sink.write(encoder.encode(`id: ${viewer.cursor}\nevent: records\ndata: ${data}\n\n`))
  }

  return {
    add(sink, since, onLeft) {
      const viewer = { sink, cursor: Math.min(since ?? ring.sequence, ring.sequence) }
      viewers.add(viewer)
      write(viewer, viewer.cursor)
      if (viewer.cursor !== ring.sequence) rearm()
      return {
        close() {
          if (!viewers.delete(viewer)) return
          if (viewers.size === 0) next.clear()
          onLeft()
        },
      }
    },
    wake: rearm,
    get size() {
      return viewers.size
    },
  }
}
