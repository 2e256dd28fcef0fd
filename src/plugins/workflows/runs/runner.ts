/**
 * Runs: from a claimed occurrence to a session that has settled (subsystems a.10, a.11).
 *
 * I1 The session and the row that says whose run it is are one commit: neither is ever there without the other.
 * I2 A run is executed once, by the process that claimed it; its message id makes a second submission impossible.
 * I3 Whatever happens, a run of this process ends with a status; when the service stops or workflows are switched off, with
 *    `interrupted`.
 */
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowDefinition, WorkflowRun, WorkflowRunStatus } from '../../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../../actors/plugin/native/native.js'
import { leaseOf } from './claim.js'
import { compilePermissions } from '../files/permission-fields.js'
import { isOpen, type Ledger } from './ledger.js'
import { runDirectory, runPrompt } from './prepare.js'
import { scheduleRetry } from './retry.js'

type Ended = Exclude<WorkflowRunStatus, 'queued' | 'running' | 'retry_waiting'>

interface RunRequest {
  readonly run: WorkflowRun
  /** As it was when the occurrence was claimed. */
  readonly definition: WorkflowDefinition
  /** Somebody stands for the content: what it allows counts. */
  readonly isAccepted: boolean
  /** Where a workflow without `directory` runs. */
  readonly base: string
}

export interface Runner {
  /** Runs under way. */
  readonly running: number
  /** Resolves when the run has ended, however. Never rejects. */
  execute(request: RunRequest): Promise<void>
  /** Ends a run whose row says already that it was replaced. */
  abandon(run: WorkflowRun): void
  /** Ends what an earlier process left unfinished. */
  recover(): void
  /** Renews the leases that are half over. */
  renew(): void
  /** Ends every run; resolves when all of them have ended. */
  drain(): Promise<void>
  nextRunId(): string
  /** This process. */
  readonly owner: string
}

export interface RunnerDeps {
  readonly host: Pick<NativeHost, 'effects' | 'sessions' | 'skills' | 'stopping'>
  readonly ledger: Ledger
  /** A run has ended, or a retry of it is waiting. */
  onEnded(activationId: string): void
}

interface UnderWay {
  readonly controller: AbortController
  sessionId: string | undefined
  /** Why it was ended before its time. */
  interruption: string | undefined
  readonly ended: Promise<void>
}

const RESTARTED = 'The server was stopped before the run had ended.'
const SWITCHED_OFF = 'Scheduled workflows were switched off before the run had ended.'

export function createRunner({ host, ledger, onEnded }: RunnerDeps): Runner {
  const { effects, sessions, stopping } = host
  const { clock, ids, sha256, log } = effects
  const owner = `svc_${sha256(ids.next('ent')).slice(0, 20)}`
  const underWay = new Map<string, UnderWay>()

  const nextRunId = () => `wfr_${clock.now()}_${sha256(ids.next('ent')).slice(0, 10)}`

  /** The row of a run that is still this process's to go on with. */
  function current(run: WorkflowRun): WorkflowRun | undefined {
    const row = ledger.run(run.id)
    return row !== undefined && (row.status === 'queued' || row.status === 'running') ? row : undefined
  }

  async function work({ run, definition, isAccepted, base }: RunRequest, own: UnderWay): Promise<void> {
    const { signal } = own.controller
    const { id: workflowRunID, activationId, workflowId, scheduledAt, trigger } = run
    const directory = await runDirectory(host, definition, base)
    const prompt = await runPrompt(host, definition, directory)
    const { name, agent, model, permissions } = definition
    const request = {
      title: name,
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(permissions !== undefined && { permission: compilePermissions(permissions) }),
    }
    const extra = {
      workflowRunID,
      workflowID: workflowId,
      workflowActivationID: activationId,
      workflowScheduledAt: scheduledAt,
      workflowTrigger: trigger,
      workflowDirectory: directory,
      workflowAccepted: isAccepted,
    }
    signal.throwIfAborted()
    const session = await sessions.create(directory, request, extra, (tx, { id }) => {
      const row = current(run)
      if (row === undefined || signal.aborted) throw new Error('the run was ended before it had a session')
      own.sessionId = id
      ledger.putRun(tx, { ...row, status: 'running', sessionId: id, startedAt: clock.now() }) // I1
    })
    signal.throwIfAborted()
    const messageId = `msg_workflow_${sha256(`${activationId}:${scheduledAt}`).slice(0, 24)}` // I2
    await sessions.prompt(session.id, { prompt, messageId, unattended: true })
    await sessions.settled(session.id, signal)
    const outcome = sessions.outcome(session.id)
    if (outcome.ok) end(run, definition, 'completed')
    else if (interruptionOf(own) !== undefined) end(run, definition, 'interrupted', interruptionOf(own))
    else end(run, definition, 'failed', outcome.error)
  }

  const interruptionOf = ({ interruption }: UnderWay) => interruption ?? (stopping.aborted ? RESTARTED : undefined)

  /** Does nothing for a run that has ended otherwise. */
  function end(run: WorkflowRun, definition: WorkflowDefinition | undefined, status: Ended, error?: string): void {
    const row = current(run)
    if (row === undefined) return
    const now = clock.now()
    ledger.commit('process', (tx) => {
      ledger.putRun(tx, { ...row, status, finishedAt: now, error: error ?? null, leaseOwner: null, leaseExpiresAt: null })
      const activation = ledger.activation(run.activationId)
      if (error === undefined || definition === undefined || activation === undefined) return
      const trigger = status === 'interrupted' ? 'recovery-retry' : 'automatic-retry'
      const { runs } = activation
      if (scheduleRetry(ledger, tx, { run: row, definition, trigger, error, now, runId: nextRunId(), runs })) {
        ledger.noteActivation(tx, { ...activation, runs: runs + 1 })
      }
    })
  }

  /** I3. A store that cannot be written leaves the run to the next start. */
  async function conduct(request: RunRequest, own: UnderWay): Promise<void> {
    const { run, definition } = request
    try {
      await work(request, own)
    } catch (error) {
      const { message } = toFailure(error)
      try {
        if (interruptionOf(own) !== undefined) end(run, definition, 'interrupted', interruptionOf(own))
        else end(run, definition, 'failed', message)
      } catch (failure) {
        log.error('the end of a workflow run could not be recorded', { runId: run.id, cause: String(failure) })
      }
    } finally {
      underWay.delete(run.id)
      onEnded(run.activationId)
    }
  }

  return {
    owner,
    nextRunId,
    get running() {
      return underWay.size
    },
    execute(request) {
      let begin: (ended: Promise<void>) => void = () => undefined
      const ended = new Promise<void>((resolve) => (begin = resolve))
      const own: UnderWay = { controller: new AbortController(), sessionId: undefined, interruption: undefined, ended }
      underWay.set(request.run.id, own)
      begin(conduct(request, own))
      return ended
    },
    abandon({ id }) {
      const own = underWay.get(id)
      if (own === undefined) return
      own.controller.abort(new Error('the run was replaced'))
      if (own.sessionId !== undefined) void sessions.abort(own.sessionId).catch(() => undefined)
    },
    recover() {
      for (const run of ledger.open()) {
        if (run.status === 'retry_waiting') continue
        if (typeof run.sessionId === 'string' && sessions.get(run.sessionId) !== undefined) sessions.clearQueue(run.sessionId) // I2
        end(run, ledger.activation(run.activationId)?.projection.definition, 'interrupted', RESTARTED)
      }
    },
    renew() {
      const now = clock.now()
      const due = [...underWay.keys()].flatMap((id) => {
        const row = ledger.run(id)
        return row !== undefined && isOpen(row) && (row.leaseExpiresAt ?? 0) - now < LIMITS.workflows.lease / 2 ? [row] : []
      })
      if (due.length > 0)
        ledger.commit('process', (tx) => due.forEach((row) => ledger.renewLease(tx, { ...row, ...leaseOf({ owner, now }) })))
    },
    async drain() {
      for (const own of underWay.values()) {
        own.interruption = stopping.aborted ? RESTARTED : SWITCHED_OFF
        own.controller.abort(new Error(own.interruption))
        if (own.sessionId !== undefined && !stopping.aborted) void sessions.abort(own.sessionId).catch(() => undefined)
      }
      await Promise.all([...underWay.values()].map(({ ended }) => ended))
    },
  }
}
