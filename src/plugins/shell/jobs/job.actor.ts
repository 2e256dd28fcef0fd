/** The effects of a command in the background (sessions-events §10.6). */
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromPromise } from 'xstate'
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProcessResult } from '../../../ports/effects.js'
import type { RowsChange } from '../../../ports/doors.js'
import { createAlarm } from '../../../kernel/alarm.js'
import { LIMITS } from '../../../protocol/limits.js'
import { jobMachine, type JobRef } from '../../../machines/shell/job.machine.js'
import { toFailure } from '../../../protocol/errors.js'
import type { JobStatus } from '../../../protocol/session/job.js'
import type { Turns } from '../../../kernel/turns.js'
import type { ReadyCommand } from '../run/commands.js'
import { joinStreams, leftBehind } from '../run/joined-output.js'
import { noticeOf, toldPart } from './job-texts.js'
import { isOpen, type Job, type Ledger } from './ledger.js'
import type { Ring } from './ring.js'

/** What one command has in memory while it has not been reported. */
export interface Live {
  readonly ready: ReadyCommand | undefined
  readonly stdout: Ring
  readonly stderr: Ring
  /** Gives its turn back. */
  giveBack?: () => void
  /** Settles once nothing of it runs. */
  process?: Promise<JobStatus>
  result?: ProcessResult
  /** The leader of its process group. */
  pid?: number
  /** Why it could not run. */
  error?: string
  /** It is not counted among what goes on any more. */
  readonly release: () => void
}

export interface JobDeps {
  readonly host: Pick<NativeHost, 'effects' | 'sessions' | 'outputs' | 'rows'>
  readonly ledger: Ledger
  readonly turns: Turns
  /** Of a job that has not been reported. */
  live(jobId: string): Live
}

export function jobLogic(deps: JobDeps) {
  const { ledger, turns, live } = deps
  return chartOf(jobMachine).provide({
    actors: {
      takeTurn: fromPromise<void, JobRef>(async ({ input: { jobId }, signal }) => {
        live(jobId).giveBack = await turns.take(signal)
      }),
      prepare: fromPromise<void, JobRef>(({ input: { jobId }, signal }) => prepare(deps, jobId, signal)),
      run: fromPromise<JobStatus, JobRef>(({ input: { jobId }, signal }) => {
        const mine = live(jobId)
        return (mine.process = run(deps, mine, { job: mustGet(ledger, jobId), signal }))
      }),
      settle: fromPromise<JobStatus, JobRef>(async ({ input: { jobId } }) => (await live(jobId).process) ?? 'cancelled'),
      report: fromPromise<void, JobRef & { ending: JobStatus; isSilent: boolean }>(({ input }) => report(deps, input)),
    },
  })
}

/** A command that had to wait is looked at again. */
async function prepare({ host, ledger, live }: JobDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const mine = live(jobId)
  try {
    await mine.ready?.check()
  } catch (error) {
    mine.error = toFailure(error).message
    throw error
  }
  signal.throwIfAborted()
  const job = mustGet(ledger, jobId)
  host.rows.commit('process', (tx) => ledger.put(tx, { ...job, status: 'running' }))
}

async function run(
  { host, ledger }: JobDeps,
  mine: Live,
  { job, signal }: { readonly job: Job; readonly signal: AbortSignal },
): Promise<JobStatus> {
  const { ready, stdout, stderr } = mine
  const keeping = createAlarm(host.effects.clock, () => keep({ host, ledger }, job.id, mine))
  const heard = (to: Ring) => (text: string) => {
    to.add(text)
    if (!keeping.isSet) keeping.set(LIMITS.jobs.kept)
  }
  try {
    if (ready === undefined) throw new Error('the command is not known any more')
    const result = await host.effects.processes.run({
      command: ready.program,
      args: ready.args,
      holds: ready.holds,
      cwd: ready.directory,
      env: ready.env,
      signal,
      timeoutMs: job.timeoutMs,
      captureBytes: 0,
      onStart(pid) {
        mine.pid = pid
        keep({ host, ledger }, job.id, mine)
      },
      onStdout: heard(stdout),
      onStderr: heard(stderr),
    })
    mine.result = result
    if (result.aborted) return 'cancelled'
    if (result.timedOut) return 'timed_out'
    return result.exitCode === 0 ? 'completed' : 'error'
  } catch (error) {
    mine.error = toFailure(error).message
    return 'error'
  } finally {
    keeping.end()
  }
}

/**
 * Notes in the row what the command has printed so far, its process, and nothing that is told: after a kill of the server that is what is
 * known of it. What cannot be noted is noted later, or at its end.
 */
export function keep(
  { host, ledger }: Pick<JobDeps, 'ledger'> & { readonly host: Pick<NativeHost, 'effects' | 'rows'> },
  jobId: string,
  live: Live,
): void {
  try {
    const job = ledger.get(jobId)
    if (job === undefined || !isOpen(job)) return
    const { stdout, stderr, pid } = live
    const whole = joinStreams(stdout.text(), stderr.text())
    const output = toldPart(whole)
    const outputTruncated = stdout.isCut || stderr.isCut || output !== whole
    host.rows.commit('process', (tx) => ledger.put(tx, { ...job, output, outputTruncated, ...(pid !== undefined && { pid }) }))
  } catch (error) {
    host.effects.log.warn('what a command in the background has printed could not be noted', { jobId, cause: String(error) })
  }
}

/** I1 of the machine. */
async function report(
  { host, ledger, live }: JobDeps,
  { jobId, ending, isSilent }: JobRef & { readonly ending: JobStatus; readonly isSilent: boolean },
): Promise<void> {
  const { sessions, effects, outputs } = host
  const before = mustGet(ledger, jobId)
  if (!isOpen(before)) return
  const { stdout, stderr, result, error, release } = live(jobId)
  const { sessionId } = before
  const isLeft = ending === 'interrupted' // by an earlier start: what is known of it stands in its row
  const whole = isLeft ? (before.output ?? '') : joinStreams(stdout.text(), stderr.text()) + leftBehind(result?.left ?? [])
  const output = toldPart(whole)
  const isCut = (isLeft && before.outputTruncated === true) || stdout.isCut || stderr.isCut || output !== whole
  const title = before.description
  const kept =
    output === whole ? undefined : await outputs.store(whole, { tool: 'background_task', title, sessionId }).catch(() => undefined)
  if (ledger.get(jobId) === undefined) return // its session is gone
  const exitCode = result?.exitCode ?? null
  const job: Job = {
    ...before,
    status: ending,
    finishedAt: effects.clock.now(),
    exitCode,
    output,
    outputTruncated: isCut,
    ...(result?.signal != null && { signal: result.signal }),
    ...(error !== undefined && { error }),
    ...(kept !== undefined && { outputPath: kept.path }),
  }
  const along = (tx: RowsChange) => {
    ledger.put(tx, job)
    tx.emit('session.background_task.completed', {
      sessionID: sessionId,
      parentSessionID: sessionId,
      jobID: jobId,
      taskID: jobId,
      status: ending,
      title,
      command: job.command,
      cwd: job.cwd,
      exitCode,
      result: output,
    })
    tx.emit('session.background_tasks.updated', sessions.backgroundTasks(sessionId, jobId))
  }
  if (isSilent) host.rows.commit('process', along)
  else sessions.tell(sessionId, { text: noticeOf(job), unattended: job.unattended }, along)
  release()
}

function mustGet(ledger: Ledger, jobId: string): Job {
  const job = ledger.get(jobId)
  if (job === undefined) throw new Error('the job is gone')
  return job
}
