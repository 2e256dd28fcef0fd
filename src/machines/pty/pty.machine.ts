/**
 * One terminal: started by whoever connects first, and again by whoever connects after its program has ended
 * (subsystems g).
 *
 * I1 At most one program at a time; a new one starts only after the last has ended with its whole session.
 * I2 A terminal that is removed is gone when nothing of its program runs, at most `endLimit` later.
 */
import { assign, setup } from 'xstate'
import { type Failure, toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface PtyInput {
  readonly id: string
}

interface PtyContext extends PtyInput {
  /** Number of the program: 0 before the first. */
  readonly incarnation: number
  /** Why the last start failed. */
  readonly failure: Failure | undefined
}

type PtyEvent =
  /** Somebody wants to see a program. */
  | { readonly type: 'connect.requested' }
  /** The program has ended, with everything in its session. */
  | { readonly type: 'process.exited' }
  | { readonly type: 'remove.requested' }

/** One program of a terminal, for effects. */
export interface Incarnation {
  readonly id: string
  readonly incarnation: number
}

export const ptyMachine = setup({
  types: { input: {} as PtyInput, context: {} as PtyContext, events: {} as PtyEvent, tags: {} as 'live' },
  actors: {
    /** Starts the program; leaves nothing running when it rejects. */
    spawn: requiredPromise<void, Incarnation>('spawn'),
    /** Reports `process.exited` once. */
    process: requiredCallback<Incarnation>('process'),
    /** Ends the program, also one that is being started, with everything in its session. */
    end: requiredPromise<void, Incarnation>('end'),
  },
  actions: {
    countIncarnation: assign({ incarnation: ({ context }) => context.incarnation + 1, failure: undefined }),
    noteFailure: assign({ failure: (_, error: unknown) => toFailure(error) }),
  },
  delays: { endLimit: LIMITS.terminals.end },
}).createMachine({
  id: 'pty',
  context: ({ input }) => ({ ...input, incarnation: 0, failure: undefined }),
  initial: 'idle',
  states: {
    idle: {
      on: { 'connect.requested': { target: 'spawning', actions: 'countIncarnation' }, 'remove.requested': 'gone' },
    },
    spawning: {
      tags: ['live'],
      invoke: {
        id: 'spawn',
        src: 'spawn',
        input: ({ context: { id, incarnation } }) => ({ id, incarnation }),
        onDone: 'running',
        onError: { target: 'exited', actions: { type: 'noteFailure', params: ({ event }: { event: { error: unknown } }) => event.error } },
      },
      on: { 'remove.requested': 'removing' },
    },
    running: {
      tags: ['live'],
      invoke: {
        id: 'process',
        src: 'process',
        input: ({ context: { id, incarnation } }) => ({ id, incarnation }),
        onError: {
          target: 'removing',
          actions: { type: 'noteFailure', params: ({ event }: { event: { error: unknown } }) => event.error },
        },
      },
      on: { 'process.exited': 'exited', 'remove.requested': 'removing' },
    },
    exited: {
      on: { 'connect.requested': { target: 'spawning', actions: 'countIncarnation' }, 'remove.requested': 'gone' },
    },
    removing: {
      invoke: {
        id: 'end',
        src: 'end',
        input: ({ context: { id, incarnation } }) => ({ id, incarnation }),
        onDone: 'gone',
        onError: { target: 'gone', actions: { type: 'noteFailure', params: ({ event }: { event: { error: unknown } }) => event.error } },
      },
      after: { endLimit: 'gone' },
    },
    gone: { type: 'final' },
  },
})
