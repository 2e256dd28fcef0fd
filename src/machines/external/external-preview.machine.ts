/**
 * One look at an external agent: it is started, asked what may be chosen, told what is, and ended (subsystems l.2, q.9).
 *
 * I1 However it goes, the agent is ended before the look is: what was found, or why nothing was, is told afterwards.
 * I2 A look takes `limit` at most, from the start of the agent until it has told everything.
 * I3 An agent that asks for anything meanwhile, or ends, has failed.
 */
import { assign, type ErrorActorEvent, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

export interface PreviewInput {
  readonly key: string
}

interface PreviewOutput {
  /** Why nothing was found, as a sentence. */
  readonly failure: string | undefined
}

interface PreviewContext extends PreviewInput {
  readonly failure: string | undefined
}

type PreviewEvent =
  | { readonly type: 'agent.asked'; readonly method: string }
  | { readonly type: 'agent.ended'; readonly how: string }
  /** The server stops. */
  | { readonly type: 'stop.requested' }
  | ErrorActorEvent

const ref = ({ context: { key } }: { context: PreviewContext }): PreviewInput => ({ key })

export const previewMachine = setup({
  types: {
    input: {} as PreviewInput,
    context: {} as PreviewContext,
    output: {} as PreviewOutput,
    events: {} as PreviewEvent,
  },
  actors: {
    /** Starts the agent, and agrees on the protocol. */
    begin: requiredPromise<void, PreviewInput>('begin'),
    /** Opens a session, which tells what may be chosen. */
    open: requiredPromise<void, PreviewInput>('open'),
    /** Chooses what was asked for, one after the other, each among what is offered by then. */
    choose: requiredPromise<void, PreviewInput>('choose'),
    /** Ends the agent and all that it has started. */
    end: requiredPromise<void, PreviewInput>('end'),
  },
  actions: {
    noteFailure: assign({ failure: (_, { error }: { error: unknown }) => (error instanceof Error ? error.message : String(error)) }),
    noteSentence: assign({ failure: (_, sentence: string) => sentence }),
  },
  delays: { limit: LIMITS.external.setup },
}).createMachine({
  id: 'external-preview',
  context: ({ input }) => ({ ...input, failure: undefined }),
  output: ({ context: { failure } }) => ({ failure }),
  initial: 'looking',
  states: {
    looking: {
      initial: 'beginning',
      after: {
        limit: { target: 'ending', actions: { type: 'noteSentence', params: `it did not say within ${LIMITS.external.setup / 1000} s` } },
      },
      on: {
        'agent.asked': {
          target: 'ending',
          actions: {
            type: 'noteSentence',
            params: ({ event }) => `it asked for "${event.method}", which it may not before it is prompted`,
          },
        },
        'agent.ended': { target: 'ending', actions: { type: 'noteSentence', params: ({ event }) => event.how } },
        'stop.requested': { target: 'ending', actions: { type: 'noteSentence', params: 'the server stops' } },
      },
      states: {
        beginning: {
          invoke: {
            id: 'begin',
            src: 'begin',
            input: ref,
            onDone: 'opening',
            onError: { target: '#external-preview.ending', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
        opening: {
          invoke: {
            id: 'open',
            src: 'open',
            input: ref,
            onDone: 'choosing',
            onError: { target: '#external-preview.ending', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
        choosing: {
          invoke: {
            id: 'choose',
            src: 'choose',
            input: ref,
            onDone: '#external-preview.ending',
            onError: { target: '#external-preview.ending', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
      },
    },
    ending: { invoke: { id: 'end', src: 'end', input: ref, onDone: 'ended', onError: 'ended' } },
    ended: { type: 'final' },
  },
})
