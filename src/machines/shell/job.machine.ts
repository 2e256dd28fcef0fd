/**
 * One command in the background: it waits for its turn, is checked again, runs, and is told to the session it ran for
 * (sessions-events §10.6; subsystems k).
 *
 * I1 What has come of it is recorded and told in one commit of `report`, so it is told exactly once, or not at all where nobody is to hear it.
 * I2 It is reported only when nothing of it runs any more; whoever asks it to stop has it stopped in whatever state it is.
 * I3 A service that stops leaves it as its row is; the next start tells that it was interrupted, and starts nothing again.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import type { JobStatus } from '../../protocol/session/job.js'
import { ENDS, LEAVING, untilDone } from '../report.js'
import { requiredPromise } from '../required.js'

export interface JobInput {
  readonly jobId: string
  /** Present for a job of an earlier start of the server: it is to be reported. */
  readonly ending?: JobStatus
}

export interface JobRef {
  readonly jobId: string
}

interface JobContext extends JobRef {
  /** How it has ended, as far as that is known. */
  readonly ending: JobStatus | undefined
  /** Its session is not told. */
  readonly isSilent: boolean
}

export type JobEvent =
  | { readonly type: 'stop.requested'; readonly isSilent: boolean }
  /** Its session is no more, and so is its row. */
  | { readonly type: 'session.gone' }
  | { readonly type: 'service.stopping' }

const ref = ({ context: { jobId } }: { context: JobContext }): JobRef => ({ jobId })
const ending = { type: 'noteEnding', params: ({ event }: { event: { output: JobStatus } }) => event.output } as const
const fault = { type: 'noteEnding', params: 'error' } as const
const stop = {
  'stop.requested': {
    target: '#job.stopping',
    actions: { type: 'noteStop', params: ({ event }: { event: { isSilent: boolean } }) => event.isSilent },
  },
} as const

export const jobMachine = setup({
  types: { input: {} as JobInput, context: {} as JobContext, events: {} as JobEvent, tags: {} as 'alive' },
  actors: {
    /** Resolves once it may run. */
    takeTurn: requiredPromise<void, JobRef>('takeTurn'),
    /** Rejects when what it would touch has changed since it was judged; notes that it runs. */
    prepare: requiredPromise<void, JobRef>('prepare'),
    /** Resolves once nothing of it runs; ends it when it is not waited for any more. */
    run: requiredPromise<JobStatus, JobRef>('run'),
    /** Resolves once nothing of it runs, with how it has ended. */
    settle: requiredPromise<JobStatus, JobRef>('settle'),
    /** Records what has come of it, and tells that in the same commit unless it `isSilent`. */
    report: requiredPromise<void, JobRef & { readonly ending: JobStatus; readonly isSilent: boolean }>('report'),
  },
  guards: { isEnding: ({ context }, those: readonly JobStatus[]) => context.ending !== undefined && those.includes(context.ending) },
  actions: {
    noteEnding: assign({ ending: (_, found: JobStatus) => found }),
    noteStop: assign({ isSilent: ({ context }, isSilent: boolean) => context.isSilent || isSilent }),
  },
  delays: { retry: delayOf(LIMITS.jobs.retry) },
}).createMachine({
  id: 'job',
  context: ({ input: { jobId, ending: known } }) => ({ jobId, ending: known, isSilent: false }),
  initial: 'rebuilding',
  on: LEAVING,
  states: {
    rebuilding: {
      always: [{ guard: { type: 'isEnding', params: ['interrupted'] }, target: 'reporting' }, { target: 'queued' }],
    },
    queued: {
      tags: ['alive'],
      invoke: { id: 'takeTurn', src: 'takeTurn', input: ref, onDone: 'starting', onError: { target: 'reporting', actions: fault } },
      on: stop,
    },
    starting: {
      tags: ['alive'],
      invoke: { id: 'prepare', src: 'prepare', input: ref, onDone: 'running', onError: { target: 'reporting', actions: fault } },
      on: stop,
    },
    running: {
      tags: ['alive'],
      invoke: {
        id: 'run',
        src: 'run',
        input: ref,
        onDone: { target: 'reporting', actions: ending },
        onError: { target: 'reporting', actions: fault },
      },
      on: stop,
    },
    stopping: {
      tags: ['alive'],
      invoke: {
        id: 'settle',
        src: 'settle',
        input: ref,
        onDone: { target: 'reporting', actions: ending },
        onError: { target: 'reporting', actions: fault },
      },
      on: { 'stop.requested': { actions: stop['stop.requested'].actions } },
    },
    reporting: {
      initial: 'telling',
      on: { 'stop.requested': { actions: stop['stop.requested'].actions } },
      states: untilDone(['telling', 'pausing'], {
        src: 'report',
        input: ({ context: { jobId, ending: found = 'error', isSilent } }: { context: JobContext }) => ({ jobId, ending: found, isSilent }),
        onDone: [
          { guard: { type: 'isEnding', params: ['completed'] }, target: '#job.delivered' },
          { guard: { type: 'isEnding', params: ['cancelled'] }, target: '#job.stopped' },
          { target: '#job.failed' },
        ],
      }),
    },
    ...ENDS,
  },
})
