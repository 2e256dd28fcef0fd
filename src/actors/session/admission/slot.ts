/** What a run, or a compaction somebody asked for, holds of its session, and giving it back (sessions-events §4.16). */
import type { Change } from '../../events/journal.js'
import type { Rows, Work } from '../state/core.js'
import type { Segment } from '../state/executions.js'
import { doMove } from '../state/moves.js'
import { busyStatus } from './queue.js'

/** What a run holds of its session. */
export interface RunSlot {
  readonly sessionId: string
  readonly rootId: string
  readonly runId: string
  readonly segment: Segment | undefined
}

/** An execution ends also where no segment is open. */
const NONE: Segment = { segmentId: '' }

/** Gives the slot back: the run is over. */
export function endRun(core: Rows & Work, tx: Change, slot: RunSlot, status: 'completed' | 'error' | 'interrupted', error?: string): void {
  const { store, statuses, effects, executions, outstanding, sequels } = core
  const { sessionId } = slot
  store.runs.finish({ id: slot.runId, sessionId }, status, effects.clock.now(), error)
  executions.runEnded(sessionId, status)
  const ended = store.sessions.get(sessionId)
  if (ended === undefined) return
  const session = doMove(core, tx, ended)
  if (store.queue.count(sessionId) === 0 && !outstanding.has(sessionId)) sequels.follow(tx, sessionId)
  const idle = store.queue.count(sessionId) === 0
  const busy = busyStatus(core, sessionId)
  statuses.set(tx, session, idle ? { type: 'idle' } : busy.status, busy.queued)
  executions.endSegment(tx, slot.rootId, slot.segment ?? NONE, sessionId)
}
