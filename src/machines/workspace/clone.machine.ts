/**
 * One repository that is cloned into the state directory, from its place in the queue to its registration (subsystems b.14).
 *
 * I1 A turn is held from `turn.taken` until git has ended its work, or the clone is given up.
 * I2 What is not registered is removed: `failed` and `cancelled` are reached only through `cleaning`.
 * I3 Once it registers it can no longer be cancelled.
 */
import { assign, setup } from 'xstate'
import { requiredCallback, requiredPromise } from '../required.js'

export interface CloneInput {
  /** Name of the new directory. */
  readonly name: string
}

interface CloneContext extends CloneInput {
  readonly isCancelled: boolean
  /** What git said last of how far it is; absent before it says anything. */
  readonly progress?: CloneStep
}

/** One of git's own steps. */
interface CloneStep {
  readonly phase: string
  /** 0 to 100. */
  readonly percent: number
}

type CloneEvent =
  | ({ readonly type: 'progressed' } & CloneStep)
  | { readonly type: 'turn.taken' }
  | { readonly type: 'turn.refused' }
  | { readonly type: 'cancel.requested' }

export const cloneMachine = setup({
  types: { input: {} as CloneInput, context: {} as CloneContext, events: {} as CloneEvent, tags: {} as 'cancelled' },
  actors: {
    /** Waits for a turn and holds it until it is left; reports `turn.taken`, or `turn.refused` when too many wait. */
    turn: requiredCallback<CloneInput>('turn'),
    /** Notes durably what is begun, and fetches without a checkout. */
    fetch: requiredPromise<void, CloneInput>('fetch'),
    checkOut: requiredPromise<void, CloneInput>('checkOut'),
    /** Registers the directory and removes the note. */
    register: requiredPromise<void, CloneInput>('register'),
    /** Waits until git is gone, and removes the directory and the note. */
    clean: requiredPromise<void, CloneInput>('clean'),
  },
  guards: { isCancelled: ({ context }) => context.isCancelled },
  actions: {
    noteCancel: assign({ isCancelled: true }),
    noteProgress: assign((_, { phase, percent }: CloneStep) => ({ progress: { phase, percent } })),
  },
}).createMachine({
  id: 'clone',
  context: ({ input }) => ({ ...input, isCancelled: false }),
  initial: 'making',
  states: {
    making: {
      initial: 'queued',
      invoke: { id: 'turn', src: 'turn', input: ({ context }) => context, onError: 'cleaning' },
      on: { 'turn.refused': 'cleaning', 'cancel.requested': { target: 'cleaning', actions: 'noteCancel' } },
      states: {
        queued: { on: { 'turn.taken': 'fetching' } },
        fetching: {
          on: { progressed: { actions: { type: 'noteProgress', params: ({ event }) => event } } },
          invoke: { id: 'fetch', src: 'fetch', input: ({ context }) => context, onDone: 'checkingOut', onError: '#clone.cleaning' },
        },
        checkingOut: {
          invoke: {
            id: 'checkOut',
            src: 'checkOut',
            input: ({ context }) => context,
            onDone: '#clone.registering',
            onError: '#clone.cleaning',
          },
        },
      },
    },
    registering: {
      invoke: { id: 'register', src: 'register', input: ({ context }) => context, onDone: 'registered', onError: 'cleaning' },
    },
    cleaning: {
      invoke: {
        id: 'clean',
        src: 'clean',
        input: ({ context }) => context,
        onDone: [{ guard: 'isCancelled', target: 'cancelled' }, { target: 'failed' }],
        onError: [{ guard: 'isCancelled', target: 'cancelled' }, { target: 'failed' }],
      },
    },
    registered: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final', tags: ['cancelled'] },
  },
})
