/**
 * The effects of a run (subsystems a.10, a.11).
 *
 * I1 The session and the row that says whose run it is are one commit: neither is ever there without the other.
 * I2 A run has one message id, which makes a second submission of its prompt impossible.
 * I3 Whether there is room for an attempt is asked again after the file was read, in the turn that claims. While others of its workflow are
 *    under way nothing is read or written for it.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type AnyEventObject, fromCallback, fromPromise } from 'xstate'
import {
  type Cut,
  type RunEnd,
  type RunOutcome,
  type RunRef,
  type WorkflowRunEvent,
  workflowRunMachine,
} from '../../../machines/workflows/workflow-run.machine.js'
import type { WorkflowDefinition, WorkflowRun } from '../../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../../ports/plugin.js'
import type { Executable } from './fitness.js'
import { compilePermissions } from '../files/permission-fields.js'
import { type Claim, claimRetry } from './claim.js'
import type { Activation, Ledger } from './ledger.js'
import type { Moments } from './moments.js'
import { runDirectory, runPrompt } from './prepare.js'
import { scheduleRetry } from './retry.js'
import { isPaused, untilRoom } from './room.js'
import { createPause } from '../../../kernel/pause.js'
import { messageOf } from '../../../protocol/message-of.js'

/** What a run is made of, as it was when its occurrence was claimed. */
export interface Material {
  readonly definition: WorkflowDefinition
  /** Somebody stands for the content: what it allows counts. */
  readonly isAccepted: boolean
  /** Where a workflow without `directory` runs. */
  readonly base: string
}

export interface RunDeps {
  readonly host: Pick<NativeHost, 'effects' | 'sessions' | 'skills'>
  readonly ledger: Ledger
  readonly moments: Pick<Moments, 'until'>
  /** This process. */
  readonly owner: string
  nextRunId(): string
  /** Of a claimed run of this process. */
  material(runId: string): Material | undefined
  /** No attempt may begin now. */
  isFull(): boolean
  /** The file that may be executed for an activation now; rejects with the reason why there is none. */
  current(activation: Activation): Promise<Executable>
  /** A waiting run was claimed: what it is made of, and the runs that end for it. */
  onReclaimed(claim: Claim & { readonly type: 'claimed' }, executable: Executable): void
  /** There is one more run that waits for its attempt. */
  onWaiting(run: WorkflowRun): void
}

interface Prepared {
  readonly directory: string
  readonly prompt: string
}

type Answer = WorkflowRunEvent['type'] & `attempt.${string}`
type Conclusion = RunRef & { readonly end: RunEnd; readonly cut: Cut | undefined }

const PAUSED = 'The workflow was paused before the next attempt.'

export function workflowRunLogic(deps: RunDeps) {
  const { host, ledger, moments } = deps
  const { clock, log } = host.effects
  const prepared = new Map<string, Prepared>()
  const turn = createPause()
  return laidOut(
    chartOf(workflowRunMachine).provide({
      actors: {
        untilDue: fromPromise<void, RunRef>(({ input: { runId }, signal }) =>
          moments.until(runId, ledger.run(runId)?.nextAttemptAt ?? clock.now(), signal),
        ),
        reclaim: fromCallback<AnyEventObject, RunRef>(({ input: { runId }, sendBack }) => {
          const left = new AbortController()
          reclaim(deps, runId, { signal: left.signal, answer: (type) => sendBack({ type }) }).catch((error: unknown) => {
            log.warn('a retry of a workflow could not begin yet', { runId, cause: String(error) })
            sendBack({ type: 'attempt.postponed' })
          })
          return () => left.abort()
        }),
        prepare: fromPromise<void, RunRef>(async ({ input: { runId } }) => {
          const { definition, base } = materialOf(deps, runId)
          const directory = await runDirectory(host, definition, base)
          prepared.set(runId, { directory, prompt: await runPrompt(host, definition, directory) })
        }),
        createSession: fromPromise<void, RunRef>(async ({ input: { runId }, signal }) => {
          await turn()
          await createSession(deps, runId, { directory: preparedOf(runId).directory, signal })
        }),
        submitPrompt: fromPromise<void, RunRef>(({ input: { runId }, signal }) => {
          const { prompt } = preparedOf(runId)
          prepared.delete(runId)
          return submitPrompt(deps, runId, { prompt, signal })
        }),
        followSession: fromPromise<RunOutcome, RunRef>(async ({ input: { runId }, signal }) => {
          const { sessionId } = underWay(ledger, runId)
          await host.sessions.settled(sessionId, signal)
          return host.sessions.outcome(sessionId)
        }),
        conclude: fromPromise<void, Conclusion>(async ({ input }) => {
          prepared.delete(input.runId)
          conclude(deps, input)
        }),
      },
    }),
  )

  function preparedOf(runId: string): Prepared {
    const found = prepared.get(runId)
    if (found === undefined) throw new Error('the run was ended before it was prepared')
    return found
  }
}

/** I3. */
async function reclaim(
  { host, ledger, owner, isFull, current, onReclaimed }: RunDeps,
  runId: string,
  { signal, answer }: { readonly signal: AbortSignal; readonly answer: (type: Answer) => void },
): Promise<void> {
  const { clock } = host.effects
  await untilRoom(ledger, runId, signal)
  if (signal.aborted) return
  const run = ledger.run(runId)
  if (run?.status !== 'retry_waiting') return answer('attempt.refused')
  const giveUp = (error: string) => {
    ledger.commit('process', (tx) => ledger.putRun(tx, { ...run, status: 'failed', finishedAt: clock.now(), nextAttemptAt: null, error }))
    answer('attempt.refused')
  }
  const activation = ledger.activation(run.activationId)
  if (activation === undefined) return giveUp('The workflow is gone.')
  if (isPaused(ledger, run, activation)) return giveUp(PAUSED)
  if (isFull()) return answer('attempt.postponed')
  const ready = await current(activation).catch((error: unknown) => messageOf(error))
  if (signal.aborted) return
  if (isFull()) return answer('attempt.postponed') // I3
  if (typeof ready === 'string') return giveUp(ready)
  const claim = claimRetry(ledger, run, ready.found.definition, { now: clock.now(), owner })
  if (claim.type !== 'claimed') return answer('attempt.postponed')
  onReclaimed(claim, ready)
  answer('attempt.claimed')
}

async function createSession(
  deps: RunDeps,
  runId: string,
  { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
): Promise<void> {
  const { host, ledger } = deps
  const { definition, isAccepted } = materialOf(deps, runId)
  const { name, agent, model, permissions } = definition
  const request = {
    title: name,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(permissions !== undefined && { permission: compilePermissions(permissions) }),
  }
  const { activationId, workflowId, scheduledAt, trigger } = unfinished(ledger, runId)
  const extra = {
    workflowRunID: runId,
    workflowID: workflowId,
    workflowActivationID: activationId,
    workflowScheduledAt: scheduledAt,
    workflowTrigger: trigger,
    workflowDirectory: directory,
    workflowAccepted: isAccepted,
  }
  await host.sessions.create(directory, request, extra, (tx, { id }) => {
    if (signal.aborted) throw new Error('the run was ended before it had a session')
    ledger.putRun(tx, { ...unfinished(ledger, runId), status: 'running', sessionId: id, startedAt: host.effects.clock.now() }) // I1
  })
}

/** What was admitted after the run had been cut is withdrawn. */
async function submitPrompt(
  { host: { sessions, effects }, ledger }: RunDeps,
  runId: string,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
): Promise<void> {
  const { sessionId, activationId, scheduledAt } = underWay(ledger, runId)
  const messageId = `msg_workflow_${effects.sha256(`${activationId}:${scheduledAt}`).slice(0, 24)}` // I2
  await sessions.prompt(sessionId, { prompt, messageId, unattended: true })
  if (!signal.aborted) return
  sessions.clearQueue(sessionId)
  await sessions.abort(sessionId)
}

function conclude(deps: RunDeps, { runId, end: { status, error }, cut }: Conclusion): void {
  const { host, ledger, nextRunId, onWaiting } = deps
  const { sessions, effects } = host
  const run = ledger.run(runId)
  if (typeof run?.sessionId === 'string' && sessions.get(run.sessionId) !== undefined) {
    if (cut === 'left') sessions.clearQueue(run.sessionId) // I2
    if (cut === 'switched-off' || cut === 'replaced') void sessions.abort(run.sessionId).catch(() => undefined)
  }
  if (run === undefined || !isUnfinished(run)) return
  const now = effects.clock.now()
  const refused = typeof run.sessionId === 'string' ? sessions.refusals(run.sessionId) : []
  const next = ledger.commit('process', (tx) => {
    const ended = { ...run, status, finishedAt: now, error: error ?? null, leaseOwner: null, leaseExpiresAt: null }
    ledger.putRun(tx, { ...ended, ...(refused.length > 0 && { refused: [...refused] }) })
    const activation = ledger.activation(run.activationId)
    const definition = deps.material(runId)?.definition ?? activation?.projection.definition
    if (error === undefined || definition === undefined || activation === undefined) return undefined
    const trigger = status === 'interrupted' ? 'recovery-retry' : 'automatic-retry'
    const { runs } = activation
    const retry = scheduleRetry(ledger, tx, { run, definition, trigger, error, now, runId: nextRunId(), runs })
    if (retry !== undefined) ledger.noteActivation(tx, { ...activation, runs: runs + 1 })
    return retry
  })
  if (next !== undefined) onWaiting(next)
}

function materialOf({ material }: Pick<RunDeps, 'material'>, runId: string): Material {
  const found = material(runId)
  if (found === undefined) throw new Error('the run is not of this process')
  return found
}

/** The row of a run that has not ended otherwise. */
function unfinished(ledger: Ledger, runId: string): WorkflowRun {
  const run = ledger.run(runId)
  if (run === undefined || !isUnfinished(run)) throw new Error('the run was ended before it had a session')
  return run
}

function underWay(ledger: Ledger, runId: string): WorkflowRun & { readonly sessionId: string } {
  const { sessionId, ...run } = unfinished(ledger, runId)
  if (typeof sessionId !== 'string') throw new Error('the run has no session')
  return { ...run, sessionId }
}

function isUnfinished({ status }: WorkflowRun): boolean {
  return status === 'queued' || status === 'running'
}
