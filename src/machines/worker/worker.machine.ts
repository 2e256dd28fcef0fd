/**
 * A server that works for one workspace of a controller's: it serves until its bootstrap ends or it is told to stop, lets what is under way
 * come to its end, and is gone (subsystems d.9).
 *
 * I1 From `draining` on nothing new is taken on, and no way leads back.
 * I2 Runs that are under way hold the end up for `window` at most: what is left of the time of the bootstrap, or the time of a stop.
 * I3 A service that ends by itself ends the worker with it.
 */
import { assign, setup } from 'xstate'
import { requiredCallback, requiredPromise } from '../required.js'

export interface WorkerInput {
  /** How long runs under way are waited for after a stop, ms. */
  readonly patience: number
}

interface WorkerContext {
  readonly why: 'stopped' | 'expired' | 'ended'
  readonly window: number
  readonly exitCode: 0 | 1
}

type WorkerEvent =
  /** The bootstrap ends in so many ms. */
  | { readonly type: 'expiry.near'; readonly window: number }
  | { readonly type: 'stop.requested' }
  | { readonly type: 'service.ended'; readonly exitCode: 0 | 1 }

export const workerMachine = setup({
  types: {
    input: {} as WorkerInput,
    context: {} as WorkerContext,
    events: {} as WorkerEvent,
    tags: {} as 'starting' | 'draining' | 'ending',
    output: {} as Pick<WorkerContext, 'why' | 'exitCode'>,
  },
  actors: {
    /** Starts the service; resolves when it answers. */
    start: requiredPromise<void, void>('start'),
    /** Reports `expiry.near` once, and `service.ended`. */
    watch: requiredCallback<void>('watch'),
    /** Resolves when no run is under way. */
    quiet: requiredPromise<void, void>('quiet'),
    /** Stops the service in order; resolves with its exit code. */
    stop: requiredPromise<0 | 1, void>('stop'),
  },
  actions: {
    noteStop: assign({ why: 'stopped' }),
    noteExpiry: assign((_, { window }: { window: number }) => ({ why: 'expired' as const, window })),
    noteEnd: assign((_, { exitCode }: { exitCode: 0 | 1 }) => ({ why: 'ended' as const, exitCode })),
    noteExit: assign((_, { exitCode }: { exitCode: 0 | 1 }) => ({ exitCode })),
    failExit: assign({ exitCode: 1 }),
  },
  delays: { window: ({ context }) => context.window },
}).createMachine({
  id: 'worker',
  context: ({ input }) => ({ why: 'ended', window: input.patience, exitCode: 0 }),
  output: ({ context: { why, exitCode } }) => ({ why, exitCode }),
  initial: 'starting',
  states: {
    starting: {
      tags: 'starting',
      invoke: { id: 'start', src: 'start', onDone: 'alive', onError: { target: 'ended', actions: 'failExit' } },
    },
    alive: {
      initial: 'serving',
      invoke: { id: 'watch', src: 'watch' },
      on: { 'service.ended': { target: 'ended', actions: { type: 'noteEnd', params: ({ event }) => event } } },
      states: {
        serving: {
          on: {
            'stop.requested': { target: 'draining', actions: 'noteStop' },
            'expiry.near': { target: 'draining', actions: { type: 'noteExpiry', params: ({ event }) => event } },
          },
        },
        draining: {
          tags: ['draining', 'ending'],
          invoke: { id: 'quiet', src: 'quiet', onDone: '#worker.stopping', onError: '#worker.stopping' },
          after: { window: '#worker.stopping' },
          on: { 'expiry.near': { target: 'draining', reenter: true, actions: { type: 'noteExpiry', params: ({ event }) => event } } },
        },
      },
    },
    stopping: {
      tags: 'ending',
      invoke: {
        id: 'stop',
        src: 'stop',
        onDone: { target: 'ended', actions: { type: 'noteExit', params: ({ event }) => ({ exitCode: event.output }) } },
        onError: { target: 'ended', actions: 'failExit' },
      },
    },
    ended: { type: 'final', tags: 'ending' },
  },
})
