/**
 * Runs that wait for another attempt, and what becomes of them when it is due (subsystems a.8, a.11).
 *
 * I1 Whether there is room is asked again after the file was read, in the turn that claims.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import type { Effects } from '../../../actors/effects.js'
import { createAgenda } from '../schedule/agenda.js'
import { type Claim, claimRetry } from './claim.js'
import type { Executable } from '../files/fitness.js'
import type { Activation, Ledger } from './ledger.js'

export interface Retries {
  /** Notes every run that waits. */
  note(): void
  stop(): void
}

export interface RetriesDeps {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly ledger: Ledger
  readonly owner: string
  /** No run may begin now. */
  isFull(): boolean
  /** The file that may be executed for an activation now; rejects with the reason why there is none. */
  current(activation: Activation): Promise<Executable>
  /** Executes what was claimed. */
  begin(claim: Claim, executable: Executable): void
}

const PAUSED = 'The workflow was paused before the next attempt.'

export function createRetries({ effects, ledger, owner, isFull, current, begin }: RetriesDeps): Retries {
  const { clock, log } = effects
  const agenda = createAgenda(effects, (runId) => void due(runId))

  async function due(runId: string): Promise<void> {
    const run = ledger.run(runId)
    if (run?.status !== 'retry_waiting') return
    try {
      await attempt(run)
    } catch (error) {
      log.warn('a retry of a workflow could not begin yet', { runId, cause: String(error) })
      later(run)
    }
  }

  async function attempt(run: WorkflowRun): Promise<void> {
    const activation = ledger.activation(run.activationId)
    if (activation === undefined) return giveUp(run, 'The workflow is gone.')
    if (!activation.projection.active && ledger.run(run.rootRunId)?.trigger === 'scheduled') return giveUp(run, PAUSED)
    if (isFull()) return later(run)
    const ready = await current(activation).catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    if (isFull()) return later(run) // I1
    if (typeof ready === 'string') return giveUp(run, ready)
    const claim = claimRetry(ledger, run, ready.found.definition, { now: clock.now(), owner })
    if (claim.type === 'claimed') begin(claim, ready)
    else later(run)
  }

  function later({ id }: WorkflowRun): void {
    agenda.put(id, clock.now() + LIMITS.workflows.claimRetry)
  }

  function giveUp(run: WorkflowRun, error: string): void {
    ledger.commit('process', (tx) => ledger.putRun(tx, { ...run, status: 'failed', finishedAt: clock.now(), nextAttemptAt: null, error }))
  }

  return {
    note() {
      for (const run of ledger.open()) if (run.status === 'retry_waiting') agenda.put(run.id, run.nextAttemptAt ?? clock.now())
    },
    stop: () => agenda.stop(),
  }
}
