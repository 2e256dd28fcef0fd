/**
 * A prompt to a session that rests is admitted and claimed in one commit, with the events of both (sessions-events §4.4, §4.10).
 *
 * I1 Only where the claim has nothing to wait for and nothing else to tell: what is not found in this turn of the event loop, is not as the
 *    session knows it, or lets nobody answer leaves the prompt to the claim of whoever it wakes.
 * I2 The commit looks again whether the session rests: what was looked at before is of no use to one that does not.
 * I3 The session is woken after the commit, in the same turn of the event loop, and what it finds first is the run that was claimed for it. That it
 *    is woken is put off behind the request of the first step, unless somebody speaks to it before.
 */
import { createPassing } from '../../../kernel/passing.js'
import { nextTurn } from '../../../kernel/pause.js'
import { FIRST_STEP } from '../../../machines/session/step-plan.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Early } from '../admission/prompts.js'
import type { RunTarget } from '../admission/target.js'
import { isSilent } from '../admission/queue.js'
import type { Rows, Sources, Work } from '../state/core.js'
import { claimIn, scopeOf } from './claim.js'
import { ceilingsOf } from './ceilings.js'
import type { RunScope } from './run-scope.js'
import type { SystemContext } from './system-context.js'
import { prepareStep } from './step/step.js'
import { PreparedEarly } from './prepared-early.js'
import { wantsTitle } from './title.js'

interface Handed {
  readonly run: RunScope
  readonly wantsTitle: boolean
}

export interface EarlyClaims {
  /** What claims a prompt, inside the commit that admits it. */
  look(sessionId: string, prompt: QueuedPrompt, target: RunTarget): Promise<Early | undefined>
  /** Prepares the first step of the run that was claimed for a session; false = there is none that is not prepared already. */
  prepare(sessionId: string): boolean
  /** The run that was claimed for a session which has not begun it yet. */
  take(sessionId: string): Handed | undefined
}

export function createEarlyClaims(
  core: Rows & Work & Sources,
  context: SystemContext,
  { isCompacting }: { isCompacting(sessionId: string): boolean },
): EarlyClaims {
  /** By session, from the commit to the look of the session that it wakes. */
  const handed = createPassing<string, Handed>()

  /** Beside what is being admitted. */
  function isIdle(sessionId: string): boolean {
    return core.statuses.isIdle(sessionId) && !core.restores.isActive(sessionId) && !isCompacting(sessionId)
  }

  return {
    async look(sessionId, prompt, target) {
      const session = core.store.sessions.get(sessionId)
      const { directory, parentId } = session ?? {}
      if (session === undefined || directory === undefined || parentId !== undefined || isSilent(prompt)) return undefined
      if (!isIdle(sessionId) || core.store.queue.size(sessionId) > 0 || target.obstacle !== undefined) return undefined
      const before = core.plugins.current(directory, sessionId)
      const isAsKnown = async (): Promise<boolean> =>
        (await core.plugins.ready(directory, sessionId)) === before && (await context.isCurrent(session))
      const ceilings = await ceilingsOf(core, session)
      if (!(await Promise.race([isAsKnown().catch(() => false), nextTurn()]))) return undefined // I1
      return () => {
        const now = core.store.sessions.get(sessionId)
        if (now === undefined || !isIdle(sessionId) || core.store.queue.size(sessionId) > 0) return undefined // I2
        return (tx, row) => {
          const titled = wantsTitle(now, target.model, prompt)
          const claimed = claimIn(core, tx, row, { target, ceilings, isAtWork: true })
          tx.after(() => handed.set(sessionId, { run: scopeOf(core, claimed), wantsTitle: titled }))
        }
      }
    },
    prepare(sessionId) {
      const run = handed.get(sessionId)?.run
      if (run === undefined || run.place.prepared !== undefined) return false
      run.place.prepared = new PreparedEarly((stopping) => prepareStep(core, context, run, FIRST_STEP, stopping))
      return true
    },
    take(sessionId) {
      const found = handed.get(sessionId)
      handed.delete(sessionId)
      return found
    },
  }
}
