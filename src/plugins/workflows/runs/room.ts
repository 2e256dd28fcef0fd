/** Waiting until there may be room for a further attempt: nobody looks from time to time, and nothing is written meanwhile. */
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { roomFor } from './claim.js'
import type { Activation, Ledger } from './ledger.js'

/** What waits for its attempt and comes of the schedule does not begin once the workflow is paused. */
export function isPaused(ledger: Ledger, { rootRunId }: WorkflowRun, { projection }: Activation): boolean {
  return !projection.active && ledger.run(rootRunId)?.trigger === 'scheduled'
}

/** Resolves once something can be decided of a run that waits for its attempt, or when `signal` aborts. */
export function untilRoom(ledger: Ledger, runId: string, signal: AbortSignal): Promise<void> {
  const activationId = ledger.run(runId)?.activationId
  if (activationId === undefined || !mustWait(ledger, runId)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = ledger.watch(activationId, () => {
      if (!mustWait(ledger, runId)) goOn()
    })
    function goOn(): void {
      end()
      signal.removeEventListener('abort', goOn)
      resolve()
    }
    signal.addEventListener('abort', goOn)
  })
}

/** Others of its workflow are under way, and nothing else keeps it from its attempt. */
function mustWait(ledger: Ledger, runId: string): boolean {
  const run = ledger.run(runId)
  const activation = run && ledger.activation(run.activationId)
  if (run?.status !== 'retry_waiting' || activation === undefined) return false
  if (activation.isLost || isPaused(ledger, run, activation)) return false
  return roomFor(ledger, run.activationId, activation.projection.definition) === undefined
}
