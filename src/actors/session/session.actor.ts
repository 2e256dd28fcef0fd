/** The session machine with its effects. Decides nothing. */
import { chartOf } from '../../kernel/machine/chart.js'
import { fromEffect } from '../../kernel/machine/effect.js'
import { laidOut } from '../../kernel/machine/laid-out.js'
import type { StepFailure } from '../../machines/session/retry.js'
import { sessionMachine, type Work as Found } from '../../machines/session/session.machine.js'
import { claimWork } from './run/claim.js'
import type { EarlyClaims } from './run/claimed-early.js'
import { recordEnd } from './run/closing.js'
import type { Rows, Work, Sources } from './state/core.js'
import { compactionLogic } from './compaction/compaction.actor.js'
import type { Compactions } from './compaction/compactions.js'
import type { RunScope } from './run/run-scope.js'
import { type Runs, runLogic } from './run/run.actor.js'
import type { SystemContext } from './run/system-context.js'
import { titleLogic } from './run/title.actor.js'

/** One logic for every session actor; scopes of runs are kept by id, so that actors share nothing else. */
export function sessionLogic(
  core: Rows & Work & Sources,
  context: SystemContext,
  { runs, compactions, claims }: { readonly runs: Runs; readonly compactions: Compactions; readonly claims: Pick<EarlyClaims, 'take'> },
) {
  const bySession = new Map<string, string>()

  function begin(run: RunScope): void {
    const before = bySession.get(run.session.id)
    if (before !== undefined) runs.delete(before)
    bySession.set(run.session.id, run.runId)
    runs.set(run.runId, run)
  }

  const logic = chartOf(sessionMachine).provide({
    actors: {
      run: runLogic(core, context, runs, compactions),
      compaction: compactionLogic(core, compactions.scopeOf),
      claimWork: fromEffect(({ input }) => {
        const handed = claims.take(input.sessionId)
        if (handed === undefined) return look(input.sessionId)
        begin(handed.run)
        return { kind: 'run', runId: handed.run.runId, wantsTitle: handed.wantsTitle }
      }),
      title: titleLogic(core, runs),
      recordCrash: fromEffect(({ input: { sessionId, runId, failure } }) => {
        if (runId !== undefined) compactions.recordEnd(runId, failure)
        const run = runId === undefined ? undefined : runs.get(runId)
        if (run !== undefined && core.statuses.run(sessionId)?.runId === runId) recordLate(run, failure)
        release(sessionId)
      }),
    },
  })
  return laidOut(logic)

  async function look(sessionId: string): Promise<Found> {
    const compaction = () => compactions.waiting(sessionId)
    if (compaction() === undefined) compactions.forget(sessionId)
    try {
      const work = await claimWork(core, context, sessionId, { compaction, onRun: begin })
      if (work.kind !== 'run') release(sessionId)
      return work
    } catch (error) {
      core.effects.log.warn('a prompt could not be claimed yet', { sessionId, cause: String(error) })
      throw error
    }
  }

  function recordLate(run: RunScope, failure: StepFailure | undefined): void {
    try {
      recordEnd(core, { run, compaction: compactions.latest(run), answers: run.place.step?.recorder.info().parentId }, failure)
    } catch (error) {
      core.effects.log.warn('the end of a run could not be recorded yet', { sessionId: run.session.id, cause: String(error) })
      throw error
    }
  }

  function release(sessionId: string): void {
    const runId = bySession.get(sessionId)
    bySession.delete(sessionId)
    if (runId !== undefined) runs.delete(runId)
  }
}
