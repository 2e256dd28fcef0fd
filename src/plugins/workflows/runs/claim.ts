/**
 * Claiming an occurrence (subsystems a.9; threat-model §6.3.1).
 *
 * I1 One commit that survives power loss holds the claim, the run and how far the schedule has come, before anything of the
 *    run exists. I2 An occurrence that the overlap rule drops is dropped for good.
 */
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'
import type { WorkflowConcurrencyPolicy, WorkflowDefinition, WorkflowRun, WorkflowRunTrigger } from '../../../protocol/workflow/workflow.js'
import type { Activation, Ledger, Tx } from './ledger.js'

export interface ClaimRequest {
  readonly activation: Activation
  readonly scheduledAt: number
  readonly trigger: WorkflowRunTrigger
  readonly now: number
  /** Id of the new run; not used for a run that waited for its retry. */
  readonly runId: string
  /** This process. */
  readonly owner: string
  /** The run this one repeats. */
  readonly retryOf?: WorkflowRun
}

export type Claim =
  /** `replaced` are runs that have to make room: their sessions are to be aborted. */
  | { readonly type: 'claimed'; readonly run: WorkflowRun; readonly replaced: readonly WorkflowRun[] }
  /** Others of the activation are running. */
  | { readonly type: 'overlap' }
  | { readonly type: 'taken' }

const FORBID: WorkflowConcurrencyPolicy = { mode: 'forbid', maxRunning: 1 }
const REPLACED = 'A newer run of the workflow took its place.'

/** A new run for an occurrence. */
export function claimOccurrence(ledger: Ledger, request: ClaimRequest): Claim {
  const { activation, scheduledAt, trigger, now, runId, retryOf } = request
  const { activationId, workflowId, definition } = activation.projection
  return ledger.commit('power', (tx): Claim => {
    const next: Activation = {
      ...activation,
      projection: { ...activation.projection, ...(trigger === 'scheduled' && { lastScheduledAt: scheduledAt }) },
    }
    const room = roomFor(ledger, activationId, definition)
    if (room === undefined) {
      ledger.noteActivation(tx, next) // I2
      return { type: 'overlap' }
    }
    const run: WorkflowRun = {
      id: runId,
      activationId,
      workflowId,
      scheduledAt,
      status: 'queued',
      trigger,
      created: now,
      attempt: (retryOf?.attempt ?? 0) + 1,
      rootRunId: retryOf?.rootRunId ?? runId,
      retryOf: retryOf?.id ?? null,
      ...leaseOf(request),
    }
    const runs = activation.runs + 1
    if (!ledger.insertRun(tx, run, runs)) {
      ledger.noteActivation(tx, next)
      return { type: 'taken' }
    }
    ledger.noteActivation(tx, { ...next, runs })
    return { type: 'claimed', run, replaced: room.map((other) => replace(ledger, tx, other, now)) }
  })
}

/** A run that waited for its retry and is due; its occurrence is its own already. */
export function claimRetry(
  ledger: Ledger,
  waiting: WorkflowRun,
  definition: WorkflowDefinition,
  at: Pick<ClaimRequest, 'now' | 'owner'>,
): Claim {
  return ledger.commit('power', (tx): Claim => {
    const room = roomFor(ledger, waiting.activationId, definition)
    if (room === undefined) {
      ledger.renewLease(tx, { ...waiting, nextAttemptAt: at.now + delayOf(LIMITS.workflows.claimRetry) })
      return { type: 'overlap' }
    }
    const run: WorkflowRun = { ...waiting, status: 'queued', nextAttemptAt: null, ...leaseOf(at) }
    ledger.putRun(tx, run)
    return { type: 'claimed', run, replaced: room.map((other) => replace(ledger, tx, other, at.now)) }
  })
}

export function leaseOf({ owner, now }: Pick<ClaimRequest, 'owner' | 'now'>): Pick<WorkflowRun, 'leaseOwner' | 'leaseExpiresAt'> {
  return { leaseOwner: owner, leaseExpiresAt: now + LIMITS.workflows.lease }
}

/** Runs that have to end first; undefined when there is no room. */
export function roomFor(ledger: Ledger, activationId: string, definition: WorkflowDefinition): readonly WorkflowRun[] | undefined {
  const { mode, maxRunning } = definition.concurrency ?? FORBID
  const running = ledger.open(activationId).filter(({ status }) => status !== 'retry_waiting')
  if (mode === 'replace') return running
  return running.length < (mode === 'allow' ? maxRunning : 1) ? [] : undefined
}

function replace(ledger: Ledger, tx: Tx, run: WorkflowRun, now: number): WorkflowRun {
  const replaced: WorkflowRun = { ...run, status: 'replaced', finishedAt: now, error: REPLACED, leaseOwner: null, leaseExpiresAt: null }
  ledger.putRun(tx, replaced)
  return replaced
}
