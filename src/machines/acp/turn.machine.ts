/**
 * One prompt of an editor, from its request to the answer that the request gets (subsystems n, ACP bridge).
 *
 * I1 A cancelled prompt is answered `cancelled`, however its run ends; the request waits for that end.
 * I2 An editor that has closed the session gets no answer of it any more: what runs there goes on.
 */
import { assign, sendTo, setup } from 'xstate'
import type { Failure } from '../../protocol/errors.js'
import { requiredCallback } from '../required.js'

export interface TurnInput {
  readonly sessionId: string
}

/** As the protocol calls them. */
export type StopReason = 'end_turn' | 'max_tokens' | 'refusal' | 'cancelled'

export interface TurnOutput {
  readonly stopReason: StopReason
  /** Why it is answered with an error instead. */
  readonly failure?: Failure
}

type TurnEvent =
  | { readonly type: 'cancel.requested' }
  | { readonly type: 'session.closed' }
  | { readonly type: 'run.ended'; readonly stopReason: StopReason }
  | { readonly type: 'run.failed'; readonly failure: Failure }

export const turnMachine = setup({
  types: { input: {} as TurnInput, context: {} as TurnInput & TurnOutput, output: {} as TurnOutput, events: {} as TurnEvent },
  actors: {
    /** Submits the prompt and tells what happens; reports `run.ended` or `run.failed`. On `abort` it aborts the run. */
    follow: requiredCallback<TurnInput, { type: 'abort' }>('follow'),
  },
  actions: {
    noteEnd: assign({ stopReason: (_, stopReason: StopReason) => stopReason }),
    noteFailure: assign({ failure: (_, failure: Failure) => failure }),
    abort: sendTo('follow', { type: 'abort' }),
  },
}).createMachine({
  id: 'turn',
  context: ({ input }) => ({ ...input, stopReason: 'cancelled' }),
  output: ({ context: { stopReason, failure } }) => ({ stopReason, ...(failure !== undefined && { failure }) }),
  initial: 'following',
  states: {
    following: {
      invoke: { id: 'follow', src: 'follow', input: ({ context: { sessionId } }) => ({ sessionId }) },
      initial: 'prompting',
      on: { 'session.closed': 'ended' },
      states: {
        prompting: {
          on: {
            'cancel.requested': 'cancelling',
            'run.ended': { target: '#turn.ended', actions: { type: 'noteEnd', params: ({ event }) => event.stopReason } },
            'run.failed': { target: '#turn.ended', actions: { type: 'noteFailure', params: ({ event }) => event.failure } },
          },
        },
        cancelling: { entry: 'abort', on: { 'run.ended': '#turn.ended', 'run.failed': '#turn.ended' } },
      },
    },
    ended: { type: 'final' },
  },
})
