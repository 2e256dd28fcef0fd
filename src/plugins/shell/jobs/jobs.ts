/**
 * The commands that run in the background: one actor for each that was not reported yet (sessions-events §10.6; subsystems k).
 *
 * I1 It is noted as work of its session from before its row until its end is told, so that nothing of the session looks finished meanwhile.
 * I2 They end with their session and with the server; what an earlier start left is told as interrupted, and not started again.
 * I3 Each is the root of a system of its own, so that a crash ends that one alone.
 */
import { type ActorRefFrom, createActor } from 'xstate'
import type { NativeHost, ToolContext } from '../../../ports/plugin.js'
import type { JobEvent, JobInput } from '../../../machines/shell/job.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createTurns } from '../../../kernel/turns.js'
import type { ReadyCommand } from '../run/commands.js'
import { joinStreams } from '../run/joined-output.js'
import { jobLogic, keep, type Live } from './job.actor.js'
import { createLedger, forgetOld, type Job } from './ledger.js'
import { createRing } from './ring.js'

const { perSession: PER_SESSION, atOnce, waiting } = LIMITS.jobs

interface NewJob extends Pick<Job, 'description' | 'command' | 'timeoutMs' | 'outputLimitBytes'> {
  readonly ready: ReadyCommand
}

export interface Jobs {
  /** Throws `quota.exceeded` when there are too many, `lifecycle.closed` while the service stops. */
  start(job: NewJob, context: Pick<ToolContext, 'sessionId' | 'unattended'>): Job
  /** One that is started now waits until another has ended. */
  areFull(): boolean
  /** Of a session, oldest first: all that have not ended, and the latest that have. */
  of(sessionId: string): readonly Job[]
  find(sessionId: string, jobId: string): Job | undefined
  /** What a command that runs has printed lately, and whether more was dropped; undefined when it has ended. */
  output(jobId: string): { readonly text: string; readonly isCut: boolean } | undefined
  /** Its end is told later. False when it has ended. */
  cancel(jobId: string): boolean
  /** Ends those of a session, which is not told; `gone` when the session is no more. */
  leave(sessionId: string, why: 'gone' | 'archived'): void
  /** Ends all of them; resolves once nothing runs. */
  end(): Promise<void>
}

interface Listed {
  readonly sessionId: string
  readonly live: Live
  readonly ref: ActorRefFrom<ReturnType<typeof jobLogic>>
  readonly ended: Promise<void>
}

export function createJobs(host: Pick<NativeHost, 'effects' | 'sessions' | 'rows' | 'outputs' | 'actors' | 'stopping'>): Jobs {
  const { effects, sessions, stopping } = host
  const { clock, ids, log } = effects
  const ledger = createLedger(host.rows)
  const turns = createTurns({ atOnce, waiting })
  const lives = new Map<string, Live>()
  const listed = new Map<string, Listed>()
  const endings = new Set<Promise<void>>()
  const over = new AbortController()
  const logic = jobLogic({
    host,
    ledger,
    turns,
    live(jobId) {
      const live = lives.get(jobId)
      if (live === undefined) throw new Error('the job is gone')
      return live
    },
  })

  function begin(job: Job, live: Live, input: JobInput): void {
    lives.set(job.id, live)
    const ref = createActor(logic, { id: `job:${job.id}`, input, clock })
    const ended = new Promise<void>((resolve) => {
      ref.subscribe({
        complete: resolve,
        error(error) {
          log.error('the actor of a job crashed', { jobId: job.id, cause: String(error) })
          resolve()
        },
      })
    }).then(async () => {
      live.release()
      await live.process?.catch(() => undefined)
      if (live.process !== undefined) keep({ host, ledger }, job.id, live) // parked: the next start tells of it
      live.giveBack?.()
      listed.delete(job.id)
      lives.delete(job.id)
    })
    endings.add(ended)
    void ended.then(() => endings.delete(ended))
    listed.set(job.id, { sessionId: job.sessionId, live, ref, ended })
    host.actors.add(ref, 'job')
    ref.start()
  }

  /** I2 */
  function recover(): void {
    for (const job of ledger.open()) {
      if (sessions.get(job.sessionId) === undefined) host.rows.commit('process', (tx) => ledger.delete(tx, job.id))
      else
        begin(
          job,
          liveOf(undefined, 0, () => undefined),
          { jobId: job.id, ending: 'interrupted' },
        )
    }
  }

  function refuseTooMany(sessionId: string): void {
    if (over.signal.aborted) throw new SvcError('lifecycle.closed', 'The service is stopping.')
    const open = ledger.open()
    if (open.filter((job) => job.sessionId === sessionId).length >= PER_SESSION)
      throw new SvcError('quota.exceeded', `A session has at most ${PER_SESSION} commands in the background. Wait until some have ended.`)
    if (open.length >= atOnce + waiting)
      throw new SvcError('quota.exceeded', `This server has ${open.length} commands in the background. Try again when some have ended.`)
  }

  async function endOne(jobId: string): Promise<void> {
    const known = listed.get(jobId)
    send(jobId, { type: 'stop.requested', isSilent: true })
    await known?.ended
  }

  function send(jobId: string, event: JobEvent): void {
    const ref = listed.get(jobId)?.ref
    if (ref?.getSnapshot().status === 'active') ref.send(event)
  }

  const park = () => {
    over.abort()
    for (const id of listed.keys()) send(id, { type: 'service.stopping' })
  }
  stopping.addEventListener('abort', park, { once: true })
  recover()

  return {
    start({ ready, ...about }, { sessionId, unattended = false }) {
      refuseTooMany(sessionId)
      const id = ids.next('job')
      const startedAt = clock.now()
      const { shell, directory: cwd } = ready
      const job: Job = { ...about, id, sessionId, cwd, shell, unattended, status: 'queued', startedAt }
      const release = sessions.begin(sessionId, { kind: 'job', id, startedAt, end: () => endOne(id) }) // I1
      try {
        host.rows.commit('process', (tx) => {
          forgetOld(ledger, tx, sessionId)
          ledger.put(tx, job)
          tx.emit('session.background_tasks.updated', sessions.backgroundTasks(sessionId))
        })
      } catch (error) {
        release()
        throw error
      }
      begin(job, liveOf(ready, about.outputLimitBytes, release), { jobId: id })
      return job
    },
    areFull: () => turns.isFull,
    of: (sessionId) => ledger.of(sessionId),
    find(sessionId, jobId) {
      const job = ledger.get(jobId)
      return job?.sessionId === sessionId ? job : undefined
    },
    output(jobId) {
      const live = listed.get(jobId)?.live
      if (live === undefined) return undefined
      return { text: joinStreams(live.stdout.text(), live.stderr.text()), isCut: live.stdout.isCut || live.stderr.isCut }
    },
    cancel(jobId) {
      if (listed.get(jobId)?.ref.getSnapshot().hasTag('alive') !== true) return false
      send(jobId, { type: 'stop.requested', isSilent: false })
      return true
    },
    leave(sessionId, why) {
      const event: JobEvent = why === 'gone' ? { type: 'session.gone' } : { type: 'stop.requested', isSilent: true }
      for (const [id, job] of listed) if (job.sessionId === sessionId) send(id, event)
    },
    async end() {
      stopping.removeEventListener('abort', park)
      park()
      await Promise.all(endings)
    },
  }
}

function liveOf(ready: ReadyCommand | undefined, outputBytes: number, release: () => void): Live {
  return { ready, stdout: createRing(outputBytes), stderr: createRing(outputBytes), release }
}
