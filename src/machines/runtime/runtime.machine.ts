/**
 * The service: what is started in which order, and stopped in which order (laws §8).
 *
 * I1 The listener opens last: whoever can connect can be answered.
 * I2 Neither a client nor a session holds a stop up longer than its deadline; it ends within `stopDeadline`; `kill.requested` (a second signal) ends at once.
 */
import { assign, setup } from 'xstate'
import type { Failure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

interface RuntimeContext {
  readonly failure: Failure | undefined
  readonly exitCode: 0 | 1
}

type RuntimeEvent = { readonly type: 'stop.requested' } | { readonly type: 'kill.requested' }

const START_FAILURE: Failure = { code: 'server.internal', message: 'The service could not start.', retryable: false }

const kill = { 'kill.requested': { target: '#runtime.killing' } } as const

export const runtimeMachine = setup({
  types: { context: {} as RuntimeContext, events: {} as RuntimeEvent, output: {} as { exitCode: 0 | 1; failure: Failure | undefined } },
  actors: {
    /** Ends what an earlier process left unfinished. */
    recover: requiredPromise<void, void>('recover'),
    /** Starts the built-in plugins and publishes what they contribute. */
    startPlugins: requiredPromise<void, void>('startPlugins'),
    /** Wakes sessions with queued prompts and arms periodic work. */
    startSessions: requiredPromise<void, void>('startSessions'),
    /** Opens the listener. */
    listen: requiredPromise<void, void>('listen'),
    /** Closes the listener and ends every stream; no new work is accepted. */
    refuse: requiredPromise<void, void>('refuse'),
    /** Aborts runs and waits until every session actor has ended. */
    drainSessions: requiredPromise<void, void>('drainSessions'),
    /** Ends plugins and every process they or tools started. */
    drainPlugins: requiredPromise<void, void>('drainPlugins'),
    /** Checkpoints and closes the store, releasing the lock. */
    closeStore: requiredPromise<void, void>('closeStore'),
    /** Ends every process and closes the store without waiting for anybody. */
    abandon: requiredPromise<void, void>('abandon'),
  },
  actions: {
    noteFailure: assign({
      failure: (_, { error }: { error: unknown }): Failure =>
        error instanceof Error ? { code: 'server.internal', message: error.message, retryable: false } : START_FAILURE,
      exitCode: 1,
    }),
    failExit: assign({ exitCode: 1 }),
  },
  delays: { answersDeadline: LIMITS.stop.answers, sessionsDeadline: LIMITS.stop.sessions, stopDeadline: LIMITS.stop.graceful },
}).createMachine({
  id: 'runtime',
  context: { failure: undefined, exitCode: 0 },
  initial: 'starting',
  output: ({ context }) => ({ exitCode: context.exitCode, failure: context.failure }),
  states: {
    starting: {
      initial: 'recovering',
      on: { 'stop.requested': { target: 'stopping' }, ...kill },
      states: {
        recovering: {
          invoke: {
            id: 'recover',
            src: 'recover',
            onDone: { target: 'startingPlugins' },
            onError: { target: '#runtime.killing', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
          },
        },
        startingPlugins: {
          invoke: {
            id: 'startPlugins',
            src: 'startPlugins',
            onDone: { target: 'startingSessions' },
            onError: { target: '#runtime.killing', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
          },
        },
        startingSessions: {
          invoke: {
            id: 'startSessions',
            src: 'startSessions',
            onDone: { target: 'listening' },
            onError: { target: '#runtime.killing', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
          },
        },
        listening: {
          invoke: {
            id: 'listen',
            src: 'listen',
            onDone: { target: '#runtime.serving' },
            onError: { target: '#runtime.killing', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
          },
        },
      },
    },
    serving: { tags: ['accepting'], on: { 'stop.requested': { target: 'stopping' }, ...kill } },
    stopping: {
      initial: 'refusing',
      on: kill,
      after: { stopDeadline: { target: 'killing', actions: 'failExit' } },
      states: {
        refusing: {
          invoke: { id: 'refuse', src: 'refuse', onDone: { target: 'drainingSessions' }, onError: { target: 'drainingSessions' } },
          after: { answersDeadline: { target: 'drainingSessions' } },
        },
        drainingSessions: {
          invoke: {
            id: 'drainSessions',
            src: 'drainSessions',
            onDone: { target: 'drainingPlugins' },
            onError: { target: 'drainingPlugins' },
          },
          after: { sessionsDeadline: { target: 'drainingPlugins' } },
        },
        drainingPlugins: {
          invoke: { id: 'drainPlugins', src: 'drainPlugins', onDone: { target: 'closingStore' }, onError: { target: 'closingStore' } },
        },
        closingStore: {
          invoke: {
            id: 'closeStore',
            src: 'closeStore',
            onDone: { target: '#runtime.stopped' },
            onError: { target: '#runtime.stopped', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
          },
        },
      },
    },
    killing: {
      invoke: { id: 'abandon', src: 'abandon', onDone: { target: 'stopped' }, onError: { target: 'stopped' } },
      entry: 'failExit',
    },
    stopped: { type: 'final' },
  },
})
