/** The session machine with its effects. Decides nothing. */
import { fromPromise } from 'xstate'
import { sessionMachine } from '../../machines/session.machine.js'
import { claimWork } from './admission/claim.js'
import { recordAbort, recordFailure } from './run/closing.js'
import type { SessionCore } from './core.js'
import type { RunScope } from './run/run-scope.js'
import { type Runs, runLogic } from './run/run.actor.js'
import type { SystemContext } from './run/system-context.js'
import { titleLogic } from './run/title.actor.js'

const CRASH = { code: 'server.internal', message: 'The run ended unexpectedly.', retryable: false } as const

/** One logic for every session actor; scopes of runs are kept by id, so that actors share nothing else. */
export function sessionLogic(core: SessionCore, context: SystemContext, runs: Runs) {
  const bySession = new Map<string, string>()

  function begin(run: RunScope): void {
    const before = bySession.get(run.session.id)
    if (before !== undefined) runs.delete(before)
    bySession.set(run.session.id, run.runId)
    runs.set(run.runId, run)
  }

  return sessionMachine.provide({
    actors: {
      run: runLogic(core, context, runs),
      claimWork: fromPromise(async ({ input }) => {
        try {
          const work = await claimWork(core, context, input.sessionId, begin)
          if (work.kind !== 'run') release(input.sessionId)
          return work
        } catch (error) {
          core.effects.log.warn('a prompt could not be claimed yet', { sessionId: input.sessionId, cause: String(error) })
          throw error
        }
      }),
      title: titleLogic(core, runs),
      recordCrash: fromPromise(async ({ input }) => {
        const run = input.runId === undefined ? undefined : runs.get(input.runId)
        if (run !== undefined && core.statuses.run(input.sessionId)?.runId === run.runId) recordEnd(run)
        release(input.sessionId)
      }),
    },
  })

  function recordEnd(run: RunScope): void {
    try {
      if (run.ending?.end === 'aborted') recordAbort(core, run)
      else recordFailure(core, run, run.ending?.failure ?? CRASH)
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
