/**
 * The worker of one workspace, as the controller drives it that owns the workspace.
 *
 * I1 What is wanted and what is there stand in the database; this chart asks for both again before each step (`decide`).
 * I2 Every step writes under the fence of the owner. A write that is refused ends this life: somebody else drives on (`left`).
 * I3 A worker is used after it was asked who it is, and not before. One that is somebody else is replaced.
 * I4 A replacement has the next generation, and begins from the volume. There is never more than one machine of a workspace.
 * I5 What fails is tried again after growing pauses; what somebody asks meanwhile is done at once.
 */
import { assign, setup } from 'xstate'
import { requiredPromise } from './required.js'

/** What has to be done next of what is wanted and there. */
export type Step = 'rest' | 'run' | 'stop' | 'replace' | 'destroy'
/** What an inspection has found. */
export type Finding = 'well' | 'silent' | 'asked' | 'idle' | 'gone' | 'expiring'
/** How a step has failed: the fence is another's, or it was a machine that cannot be used, or anything else. */
export type Fault = 'fenced' | 'unusable' | 'failed'

export interface WorkerInput {
  /** How long it is left alone when it is well, ms. */
  readonly inspectAfter: number
}

interface WorkerContext extends WorkerInput {
  /** Inspections one after another that it did not answer. */
  readonly silences: number
  /** Steps that failed one after another. */
  readonly strikes: number
}

export const WORKER_DELAYS = { poll: 150, backoff: { first: 500, factor: 2, max: 30_000 } }

/** A busy worker may not answer for a while; so many times are too many. */
const SILENCES = 10

export const workerMachine = setup({
  types: {
    input: {} as WorkerInput,
    context: {} as WorkerContext,
    events: {} as
      | { readonly type: 'intent.changed' }
      /** Nobody may drive it from here any more. */
      | { readonly type: 'stop.requested' },
    tags: {} as 'awake',
  },
  actors: {
    decide: requiredPromise<Step>('decide'),
    /** Has the machine made or started; whether it answers already. */
    run: requiredPromise<{ readonly isReady: boolean }>('run'),
    /** Asks the worker who it is, and records that it was asked. */
    verify: requiredPromise<void>('verify'),
    inspect: requiredPromise<Finding>('inspect'),
    stop: requiredPromise<void>('stop'),
    /** The next generation, of which nothing is there yet. */
    advance: requiredPromise<void>('advance'),
    destroy: requiredPromise<void>('destroy'),
  },
  actions: {
    countStrike: assign({ strikes: ({ context }) => context.strikes + 1 }),
    countSilence: assign({ silences: ({ context }) => context.silences + 1 }),
    noteAnswer: assign({ silences: 0 }),
    forgive: assign({ strikes: 0, silences: 0 }),
  },
  guards: {
    isStep: (_, { step, wanted }: { step: Step; wanted: Step }) => step === wanted,
    isFinding: (_, { finding, wanted }: { finding: Finding; wanted: Finding }) => finding === wanted,
    isFault: (_, { error, fault }: { error: unknown; fault: Fault }) => faultOf(error) === fault,
    isSlow: ({ context }, { finding }: { finding: Finding }) => finding === 'silent' && context.silences < SILENCES,
    isFirstStrike: ({ context }) => context.strikes <= 1,
    isReady: (_, { isReady }: { isReady: boolean }) => isReady,
  },
  delays: {
    inspect: ({ context }) => context.inspectAfter,
    poll: WORKER_DELAYS.poll,
    backoff: ({ context }) => {
      const { first, factor, max } = WORKER_DELAYS.backoff
      return Math.min(max, first * factor ** Math.max(0, context.strikes - 1))
    },
  },
}).createMachine({
  id: 'worker',
  context: ({ input }) => ({ ...input, strikes: 0, silences: 0 }),
  initial: 'deciding',
  on: { 'stop.requested': '.left' },
  states: {
    deciding: {
      invoke: {
        src: 'decide',
        onDone: [
          { guard: { type: 'isStep', params: ({ event }) => ({ step: event.output, wanted: 'run' }) }, target: 'running' },
          { guard: { type: 'isStep', params: ({ event }) => ({ step: event.output, wanted: 'replace' }) }, target: 'replacing' },
          { guard: { type: 'isStep', params: ({ event }) => ({ step: event.output, wanted: 'stop' }) }, target: 'stopping' },
          { guard: { type: 'isStep', params: ({ event }) => ({ step: event.output, wanted: 'destroy' }) }, target: 'destroying' },
          { target: 'resting' },
        ],
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { target: 'backing' },
        ],
      },
    },
    running: {
      invoke: {
        src: 'run',
        onDone: [{ guard: { type: 'isReady', params: ({ event }) => event.output }, target: 'verifying' }, { target: 'starting' }],
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'unusable' }) }, target: 'replacing' },
          { target: 'backing' },
        ],
      },
    },
    starting: { after: { poll: 'running' }, on: { 'intent.changed': 'deciding' } },
    verifying: {
      invoke: {
        src: 'verify',
        onDone: { target: 'awake', actions: 'forgive' },
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'unusable' }) }, target: 'replacing' },
          { target: 'backing' },
        ],
      },
    },
    awake: { tags: 'awake', after: { inspect: 'inspecting' }, on: { 'intent.changed': 'deciding' } },
    inspecting: {
      tags: 'awake',
      invoke: {
        src: 'inspect',
        onDone: [
          { guard: { type: 'isFinding', params: ({ event }) => ({ finding: event.output, wanted: 'idle' }) }, target: 'stopping' },
          {
            guard: { type: 'isFinding', params: ({ event }) => ({ finding: event.output, wanted: 'well' }) },
            target: 'awake',
            actions: 'noteAnswer',
          },
          { guard: { type: 'isSlow', params: ({ event }) => ({ finding: event.output }) }, target: 'awake', actions: 'countSilence' },
          { guard: { type: 'isFinding', params: ({ event }) => ({ finding: event.output, wanted: 'asked' }) }, target: 'deciding' },
          { target: 'replacing' },
        ],
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { target: 'awake' },
        ],
      },
    },
    stopping: {
      invoke: {
        src: 'stop',
        onDone: 'deciding',
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { target: 'backing' },
        ],
      },
    },
    replacing: {
      entry: 'countStrike',
      invoke: {
        src: 'advance',
        // One that was well until now is replaced at once; one that never was, after a pause.
        onDone: [{ guard: 'isFirstStrike', target: 'running' }, { target: 'pausing' }],
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { target: 'backing' },
        ],
      },
    },
    destroying: {
      invoke: {
        src: 'destroy',
        onDone: 'resting',
        onError: [
          { guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'fenced' }) }, target: 'left' },
          { target: 'backing' },
        ],
      },
    },
    backing: { entry: 'countStrike', after: { backoff: 'deciding' }, on: { 'intent.changed': 'deciding' } },
    pausing: { after: { backoff: 'deciding' } },
    /** There is nothing to do: the workspace is given back, whoever is asked next takes it. */
    resting: { type: 'final' },
    left: { type: 'final' },
  },
})

export class StepError extends Error {
  readonly fault: Fault

  constructor(fault: Fault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof StepError ? error.fault : 'failed'
}
