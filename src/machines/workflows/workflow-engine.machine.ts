/**
 * Scheduled workflows as a whole: the order they start and stop in, and what is done from time to time (subsystems a.7, a.8).
 *
 * I1 What an earlier process left unfinished is ended before anything is claimed.
 * I2 Nothing is claimed once the service begins to stop: runs go on, and are ended by `stop.requested`.
 * I3 Activations that could not be told of their files, because nothing could be written, are told at a later beat.
 * I4 A start that fails, as the disk does, is tried again, ever less often.
 * I5 Files that may not run for a reason that may pass are looked at again, soon at first and ever less often.
 */
import { assign, type ErrorActorEvent, setup } from 'xstate'
import { type Failure, toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

interface WorkflowEngineContext {
  /** Why it did not start when that was tried last, and how often it did not. */
  readonly failure: Failure | undefined
  readonly failures: number
  /** Files that may be fit to run soon, as it was told last. */
  readonly waiting: number
  /** Looks at them since one more was told of. */
  readonly rechecks: number
}

export type WorkflowEngineEvent =
  /** Activations were brought in line with their files. */
  | { readonly type: 'files.followed'; readonly waiting: number }
  | { readonly type: 'files.missed' }
  /** Every activation is being brought in line. */
  | { readonly type: 'catch-up.begun' }
  | { readonly type: 'service.stopping' }
  | { readonly type: 'stop.requested' }

const noteFailure = { type: 'noteFailure', params: ({ event }: { event: { error: unknown } }) => event.error } as const
const late = { target: 'late', actions: noteFailure } as const
const count = { params: ({ event }: { event: { waiting: number } }) => event.waiting } as const
const note = { type: 'noteWaiting', ...count } as const

export const workflowEngineMachine = setup({
  types: {
    context: {} as WorkflowEngineContext,
    events: {} as WorkflowEngineEvent | ErrorActorEvent,
    tags: {} as 'serving' | 'started' | 'behind' | 'failed' | 'over',
  },
  actors: {
    /** Ends the runs that an earlier process left unfinished. */
    recover: requiredPromise<void, void>('recover'),
    /** Reads the settings and the files of every tracked workspace, and follows them from then on. */
    follow: requiredPromise<void, void>('follow'),
    /** Brings the activations in line, and what they and waiting runs expect into the agenda. */
    arm: requiredPromise<void, void>('arm'),
    /** Renews leases, follows the settings, makes good what was missed. */
    beat: requiredPromise<void, void>('beat'),
    /** Looks at the files that wait. */
    recheck: requiredPromise<void, void>('recheck'),
    /** Tells the runs that the service begins to stop. */
    refuse: requiredPromise<void, void>('refuse'),
    /** Ends whatever was started; resolves when nothing of it runs. */
    drain: requiredPromise<void, void>('drain'),
  },
  guards: {
    hasWaiting: ({ context }) => context.waiting > 0,
    isAnyWaiting: (_, waiting: number) => waiting > 0,
  },
  actions: {
    noteFailure: assign(({ context }, error: unknown) => ({ failure: toFailure(error), failures: context.failures + 1 })),
    /** One more is looked at soon. */
    noteWaiting: assign(({ context }, waiting: number) => ({
      waiting,
      rechecks: waiting > context.waiting ? 0 : context.rechecks,
    })),
    lengthen: assign({ rechecks: ({ context }) => context.rechecks + 1 }),
  },
  delays: {
    beatInterval: LIMITS.workflows.lease / 5,
    startDelay: ({ context }) => delayOf(LIMITS.workflows.recheck, context.failures),
    recheckDelay: ({ context }) => delayOf(LIMITS.workflows.recheck, context.rechecks + 1),
  },
}).createMachine({
  id: 'workflow-engine',
  context: { failure: undefined, failures: 0, waiting: 0, rechecks: 0 },
  initial: 'starting',
  on: { 'service.stopping': { target: '.refusing' }, 'stop.requested': { target: '.stopping' } },
  states: {
    starting: {
      initial: 'recovering',
      states: {
        recovering: { invoke: { id: 'recover', src: 'recover', onDone: { target: 'looking' }, onError: late } },
        looking: { invoke: { id: 'follow', src: 'follow', onDone: { target: '#workflow-engine.serving' }, onError: late } },
        late: { tags: ['failed'], after: { startDelay: { target: 'recovering' } } },
      },
    },
    serving: {
      tags: ['serving'],
      type: 'parallel',
      states: {
        schedule: {
          initial: 'arming',
          states: {
            arming: { invoke: { id: 'arm', src: 'arm', onDone: { target: 'resting' }, onError: late } },
            late: { tags: ['failed'], after: { startDelay: { target: 'arming' } } },
            resting: { tags: ['started'], after: { beatInterval: { target: 'beating' } } },
            beating: {
              tags: ['started'],
              invoke: { id: 'beat', src: 'beat', onDone: { target: 'resting' }, onError: { target: 'resting' } },
            },
          },
        },
        files: {
          initial: 'followed',
          on: { 'files.missed': { target: '.missed' } },
          states: {
            followed: {
              on: {
                'files.followed': [{ guard: { type: 'isAnyWaiting', ...count }, target: 'waiting', actions: note }, { actions: note }],
              },
            },
            waiting: {
              after: { recheckDelay: { target: 'looking', actions: 'lengthen' } },
              on: {
                'files.followed': [
                  { guard: { type: 'isAnyWaiting', ...count }, target: 'waiting', reenter: true, actions: note },
                  { target: 'followed', actions: note },
                ],
              },
            },
            looking: {
              invoke: {
                id: 'recheck',
                src: 'recheck',
                onDone: [{ guard: 'hasWaiting', target: 'waiting' }, { target: 'followed' }],
                onError: { target: 'waiting' },
              },
              on: { 'files.followed': { actions: note } },
            },
            /** Until all of it is followed again. */
            missed: {
              tags: ['behind'],
              on: { 'files.missed': {}, 'files.followed': { actions: note }, 'catch-up.begun': { target: 'followed' } },
            },
          },
        },
      },
    },
    /** Runs go on while sessions are ended. */
    refusing: {
      tags: ['over'],
      invoke: { id: 'refuse', src: 'refuse', onError: { actions: noteFailure } },
      on: { 'service.stopping': {} },
    },
    stopping: {
      tags: ['over'],
      invoke: { id: 'drain', src: 'drain', onDone: { target: 'stopped' }, onError: { target: 'stopped' } },
      on: { 'service.stopping': {}, 'stop.requested': {} },
    },
    stopped: { tags: ['over'], type: 'final' },
  },
})
