/**
 * The life of a conversation screen: from its first picture until the person leaves.
 *
 * I1 Ctrl-C ends what runs first; it leaves only where nothing runs, pressed again, or when what runs does not end. A run that follows is ended by another one.
 * I2 A connection that is lost is sought again for as long as the person stays, further and further apart.
 * I3 What is asked is put to the person whatever else goes on, and taken away once nobody waits for an answer.
 */
import { assign, setup, stateIn } from 'xstate'
import { delayOf, type RetryPolicy } from '../../protocol/retry.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface ScreenInput {
  /** 0 to 1, for the times between two tries. */
  readonly random: () => number
}

interface ScreenContext extends ScreenInput {
  /** There is a session to follow. */
  readonly isChosen: boolean
  /** In a row. */
  readonly losses: number
  readonly failure: unknown
}

export type ScreenEvent =
  | { readonly type: 'session.chosen' }
  | { readonly type: 'link.up' }
  | { readonly type: 'link.lost' }
  /** The server answers, and will not tell: nothing is to be waited for. */
  | { readonly type: 'link.refused'; readonly failure: unknown }
  | { readonly type: 'run.began' }
  | { readonly type: 'run.ended' }
  /** Another run is at work than the one that was to end. */
  | { readonly type: 'run.followed' }
  | { readonly type: 'request.opened' }
  | { readonly type: 'requests.settled' }
  | { readonly type: 'person.typed' }
  | { readonly type: 'person.interrupted' }
  | { readonly type: 'person.left' }

const AWAY: RetryPolicy = { first: 250, factor: 2, most: 5000, jitter: 0.5 }

export const screenMachine = setup({
  types: {
    input: {} as ScreenInput,
    context: {} as ScreenContext,
    output: {} as { readonly failure: unknown },
    events: {} as ScreenEvent,
  },
  actors: {
    /** Finds or starts the server, and reads what is known of the conversation. */
    open: requiredPromise<unknown, object>('open'),
    /** Follows the events of the session from where it was; reports `link.up`, `link.lost` or `link.refused`. */
    follow: requiredCallback<object>('follow'),
    /** Ends the run on the server with everything that waits behind it. */
    abort: requiredCallback<object>('abort'),
  },
  delays: { untilTry: ({ context: { losses, random } }) => delayOf(AWAY, losses, random) },
  guards: {
    isIdle: stateIn({ open: { work: 'idle' } }),
    isChosen: ({ context: { isChosen } }) => isChosen,
  },
  actions: {
    noteChosen: assign({ isChosen: true }),
    countLoss: assign({ losses: ({ context }) => context.losses + 1 }),
    forgetLosses: assign({ losses: 0 }),
    noteFailure: assign({ failure: (_, { failure }: { readonly failure: unknown }) => failure }),
  },
}).createMachine({
  id: 'screen',
  context: ({ input }) => ({ ...input, isChosen: false, losses: 0, failure: undefined }),
  output: ({ context: { failure } }) => ({ failure }),
  initial: 'opening',
  on: { 'person.left': '.ended' },
  states: {
    opening: {
      invoke: {
        src: 'open',
        input: {},
        onDone: 'open',
        onError: { target: 'ended', actions: { type: 'noteFailure', params: ({ event }) => ({ failure: event.error }) } },
      },
      on: { 'session.chosen': { actions: 'noteChosen' }, 'person.interrupted': 'ended' },
    },
    open: {
      type: 'parallel',
      on: { 'link.refused': { target: 'ended', actions: { type: 'noteFailure', params: ({ event }) => ({ failure: event.failure }) } } },
      states: {
        link: {
          initial: 'none',
          on: { 'session.chosen': '.following' },
          states: {
            none: { always: { guard: 'isChosen', target: 'following' } },
            following: {
              invoke: { src: 'follow', input: {} },
              on: { 'link.up': { actions: 'forgetLosses' }, 'link.lost': { target: 'away', actions: 'countLoss' } },
            },
            away: { after: { untilTry: 'following' } },
          },
        },
        work: {
          initial: 'idle',
          states: {
            idle: { on: { 'run.began': 'running' } },
            running: { on: { 'run.ended': 'idle', 'person.interrupted': 'aborting' } },
            aborting: {
              invoke: { src: 'abort', input: {} },
              on: { 'run.ended': 'idle', 'run.followed': 'running', 'person.interrupted': '#screen.ended' },
            },
          },
        },
        answers: {
          initial: 'none',
          states: {
            none: { on: { 'request.opened': 'asked' } },
            asked: { on: { 'requests.settled': 'none' } },
          },
        },
        person: {
          initial: 'staying',
          states: {
            staying: { on: { 'person.interrupted': { guard: 'isIdle', target: 'warned' } } },
            warned: {
              on: { 'person.typed': 'staying', 'run.began': 'staying', 'person.interrupted': { guard: 'isIdle', target: '#screen.ended' } },
            },
          },
        },
      },
    },
    ended: { type: 'final' },
  },
})
