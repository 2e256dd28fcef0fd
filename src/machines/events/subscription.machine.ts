/**
 * One reader of an event stream: it is sent the log from its cursor on, then what happens, until it leaves or is cut.
 *
 * I1 Frames never enter this machine: it hears that the log is read up, that the reader has left, and that it can be served no more.
 * I2 Replay ends and live delivery begins in one step, so that nothing lies between them and nothing arrives twice.
 */
import { assign, setup } from 'xstate'
import { requiredCallback } from '../required.js'

export interface SubscriptionInput {
  readonly id: string
  /** The cursor its replay begins after; undefined = it begins with what happens from now on. */
  readonly after: number | undefined
}

/** The reader has left, or took too little; what was to be sent is no longer kept, or nothing more can be sent. */
type SubscriptionEnd = 'left' | 'lagged' | 'pruned' | 'failed'

interface SubscriptionContext extends SubscriptionInput {
  readonly end: SubscriptionEnd
}

type SubscriptionEvent =
  | { readonly type: 'log.read' }
  | { readonly type: 'log.pruned' }
  | { readonly type: 'reader.left' }
  | { readonly type: 'reader.lagged' }
  | { readonly type: 'delivery.failed' }

export const subscriptionMachine = setup({
  types: {
    input: {} as SubscriptionInput,
    output: {} as { readonly end: SubscriptionEnd },
    context: {} as SubscriptionContext,
    events: {} as SubscriptionEvent,
  },
  actors: {
    /** Sends the log page by page, as the reader takes it; reports `log.read` in the tick of the last page, or `log.pruned`. */
    replay: requiredCallback<{ readonly id: string }>('replay'),
    /** Sends what a newcomer is told and, from the same tick on, what happens; reports `reader.lagged` or `delivery.failed`. */
    deliver: requiredCallback<{ readonly id: string }>('deliver'),
  },
  guards: { hasCursor: ({ context }) => context.after !== undefined },
  actions: { endAs: assign({ end: (_, end: SubscriptionEnd) => end }) },
}).createMachine({
  id: 'subscription',
  context: ({ input }) => ({ ...input, end: 'failed' }),
  initial: 'opening',
  output: ({ context }) => ({ end: context.end }),
  on: {
    'reader.left': { target: '.ended', actions: { type: 'endAs', params: 'left' } },
    'reader.lagged': { target: '.lagged', actions: { type: 'endAs', params: 'lagged' } },
    'delivery.failed': { target: '.ended' },
  },
  states: {
    opening: { always: [{ guard: 'hasCursor', target: 'replaying' }, { target: 'live' }] },
    replaying: {
      invoke: { id: 'replay', src: 'replay', input: ({ context: { id } }) => ({ id }), onError: 'ended' },
      on: {
        'log.read': 'live',
        'log.pruned': { target: 'ended', actions: { type: 'endAs', params: 'pruned' } },
      },
    },
    live: { invoke: { id: 'deliver', src: 'deliver', input: ({ context: { id } }) => ({ id }), onError: 'ended' } },
    lagged: { type: 'final' },
    ended: { type: 'final' },
  },
})
