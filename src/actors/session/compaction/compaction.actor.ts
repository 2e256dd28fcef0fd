/** The compaction machine with its effects. Decides nothing. */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromCallback, fromPromise } from 'xstate'
import { compactionMachine } from '../../../machines/session/compaction.machine.js'
import { compactionOverrides } from '../../../machines/session/compaction/window.js'
import { stepFailure } from '../../provider/failure.js'
import type { Rows, Work, Sources } from '../state/core.js'
import { type CompactionScope, openCompaction, recordCompactionEnd, recordSummary, streamSummary } from './compaction-effects.js'

/** `scopeOf` answers the compaction of a run, or the one somebody asked for, by the id of the run. */
export function compactionLogic(core: Rows & Work & Sources, scopeOf: (runId: string) => CompactionScope) {
  return laidOut(
    chartOf(compactionMachine).provide({
      delays: { stall: compactionOverrides(core.effects.env).stall },
      actors: {
        open: fromPromise(async ({ input, signal }) => openCompaction(core, scopeOf(input.runId), input, signal)),
        summarise: fromCallback<{ type: string }, { runId: string; attempt: number }>(({ input, sendBack }) => {
          const { open } = scopeOf(input.runId)
          if (open === undefined) throw new Error('no compaction is open')
          const controller = new AbortController()
          if (input.attempt > 0) open.recorder.restart()
          streamSummary(core, open, () => sendBack({ type: 'summary.heard' }), controller.signal).then(
            () => sendBack({ type: 'summary.finished' }),
            (error: unknown) => sendBack({ type: 'summary.failed', failure: stepFailure(error) }),
          )
          return () => controller.abort()
        }),
        record: fromPromise(async ({ input }) => recordSummary(core, scopeOf(input.runId), input.failure)),
        recordEnd: fromPromise(async ({ input }) => recordCompactionEnd(core, scopeOf(input.runId), input.failure)),
      },
    }),
  )
}
