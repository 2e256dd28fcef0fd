/**
 * Something that a plugin has had the host begin and that goes on after the call: a program, a task, a question to a model or to a person.
 *
 * I1 It ends by itself, by its time, or because it is told to; however it ends, it says which was first.
 * I2 What does not end in time when it is told to is killed, and given up where even that does not help.
 * I3 What it says and answers does not pass here.
 */
import { assign, setup } from 'xstate'
import { type Failure, toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

export interface OpenedInput {
  /** What it is, for whoever looks at it: "program". */
  readonly what: string
  /** Milliseconds after which it is told to end. */
  readonly timeoutMs: number
}

interface OpenedContext extends OpenedInput {
  /** Who told it to end. */
  readonly stopped: 'time' | 'asked' | undefined
  /** Why it failed. */
  readonly failure: Failure | undefined
  /** It could not be ended. */
  readonly isLeft: boolean
}

export type OpenedEvent =
  /** The plugin wants it to end, or its lease is revoked. */
  { readonly type: 'stop.requested' }

export const openedMachine = setup({
  types: { input: {} as OpenedInput, context: {} as OpenedContext, events: {} as OpenedEvent, tags: {} as 'going' },
  actors: {
    /** Settles when nothing of it runs. */
    work: requiredPromise<void, undefined>('work'),
    /** Tells it to end; resolves at once. */
    halt: requiredPromise<void, undefined>('halt'),
    /** Ends it by force; resolves at once. */
    kill: requiredPromise<void, undefined>('kill'),
  },
  actions: {
    noteStopped: assign({ stopped: (_, by: 'time' | 'asked') => by }),
    noteFailure: assign({ failure: ({ context }, error: unknown) => (context.stopped === undefined ? toFailure(error) : undefined) }),
    noteLeft: assign({ isLeft: true }),
  },
  delays: {
    time: ({ context }) => context.timeoutMs,
    haltLimit: LIMITS.opened.halt,
    killLimit: LIMITS.opened.kill,
  },
}).createMachine({
  id: 'opened',
  context: ({ input }) => ({ ...input, stopped: undefined, failure: undefined, isLeft: false }),
  initial: 'open',
  states: {
    open: {
      invoke: {
        id: 'work',
        src: 'work',
        onDone: 'ended',
        onError: { target: 'ended', actions: { type: 'noteFailure', params: ({ event }: { event: { error: unknown } }) => event.error } },
      },
      initial: 'going',
      states: {
        going: {
          tags: ['going'],
          on: { 'stop.requested': { target: 'halting', actions: { type: 'noteStopped', params: 'asked' } } },
          after: { time: { target: 'halting', actions: { type: 'noteStopped', params: 'time' } } },
        },
        halting: {
          invoke: { id: 'halt', src: 'halt', onError: 'killing' },
          after: { haltLimit: 'killing' },
        },
        killing: {
          invoke: { id: 'kill', src: 'kill', onError: { target: '#opened.ended', actions: 'noteLeft' } },
          after: { killLimit: { target: '#opened.ended', actions: 'noteLeft' } },
        },
      },
    },
    ended: { type: 'final' },
  },
})
