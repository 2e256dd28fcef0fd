/**
 * The end of a step that another one follows: it is stored with the opening of that one, as nothing lies between the two.
 *
 * I1 It waits no longer than this turn of the event loop: where something has to be waited for before the next step, it is stored by itself.
 * I2 It is stored before anything else of its run. What cannot be stored waits for the next commit of the run.
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { Change } from '../../events/journal.js'
import type { Rows, Work } from '../state/core.js'
import type { Ending } from './record/ending.js'
import { type RunScope, segmentOf } from './run-scope.js'

type Core = Pick<Rows & Work, 'journal' | 'executions' | 'transcripts' | 'effects'>

/** The next step may be prepared by it at once. */
export function putOff(core: Core, run: RunScope, ending: Ending): void {
  run.place.ending = ending
  void nextTurn().then(() => {
    if (run.place.ending !== ending) return
    try {
      storeEnd(core, run)
    } catch (error) {
      core.effects.log.warn('the end of a step could not be stored yet', { sessionId: run.session.id, cause: String(error) })
    }
  })
}

/** By itself, if it is not stored. */
export function storeEnd(core: Core, run: RunScope): void {
  const { ending, step } = run.place
  if (ending === undefined) return
  core.journal.commit('process', (tx) => {
    storeEndIn(tx, run)
    if (step !== undefined) core.executions.endSegment(tx, run.rootId, segmentOf(step))
  })
}

/** If it is not stored, inside the caller's commit, which ends the segment of the step. */
export function storeEndIn(tx: Change, { place }: RunScope): void {
  const { ending } = place
  if (ending === undefined) return
  ending.store(tx)
  tx.after(() => void (place.ending = undefined))
}

/** Who reads the messages of the session reads the end as well. */
export function showEnd({ transcripts }: Pick<Core, 'transcripts'>, { session, place: { ending } }: RunScope): void {
  if (ending !== undefined && transcripts.of(session.id).at(-1) !== ending.message) transcripts.append(ending.message)
}
