/**
 * One sign-in at a provider or an MCP server, from its offer to a stored credential (subsystems c.7, f.5; threat-model N3).
 *
 * I1 It takes one answer: what arrives after the first one changes nothing.
 * I2 No code, token or secret enters it; its effects keep them.
 * I3 It ends within its lifetime, whatever the other side or its user does, and ends with the process. What is remembered of it elsewhere may begin it anew.
 */
import { assign, setup } from 'xstate'
import { toFailure } from '../../protocol/errors.js'
import { requiredCallback, requiredPromise } from '../required.js'

export type SignInKind = 'browser' | 'code' | 'device'

export interface SignInInput {
  readonly attemptId: string
  /** Where: the name of a provider, or of an MCP server. */
  readonly at: string
  readonly kind: SignInKind
  /** ms. */
  readonly lifetime: number
}

/** What its user is shown. */
export interface SignInOffer {
  readonly url: string
  readonly instructions: string
}

interface SignInContext extends SignInInput {
  readonly offer: SignInOffer | undefined
  /** Why it was refused, as a sentence. */
  readonly reason: string | undefined
}

export type SignInEvent =
  /** Its user is back, has given the code, or the device is admitted. */
  | { readonly type: 'answer.arrived' }
  | { readonly type: 'answer.refused'; readonly reason: string }
  /** Nobody waits any longer. */
  | { readonly type: 'answer.late' }
  | { readonly type: 'cancel.requested' }

/** `offering`: it is not known yet where its user goes. Each end has a tag of its own. */
type SignInTag = 'open' | 'offering' | 'waiting' | 'connected' | 'refused' | 'expired' | 'cancelled'

interface SignInRef {
  readonly attemptId: string
}

const ref = ({ context: { attemptId } }: { context: SignInContext }): SignInRef => ({ attemptId })
const fault = {
  type: 'noteReason',
  params: ({ event }: { event: { error: unknown } }) => toFailure(event.error).message,
} as const

export const signInMachine = setup({
  types: { input: {} as SignInInput, context: {} as SignInContext, events: {} as SignInEvent, tags: {} as SignInTag },
  actors: {
    /** Asks the other side how it wants to be asked, and prepares to hear its answer; or finds what was asked before. */
    offer: requiredPromise<SignInOffer, SignInRef>('offer'),
    /** Hears the answer: `answer.arrived`, `answer.refused` or `answer.late`. */
    hear: requiredCallback<SignInRef>('hear'),
    /** Checks the answer, makes a credential of it and stores that. */
    exchange: requiredPromise<void, SignInRef>('exchange'),
  },
  actions: {
    noteOffer: assign({ offer: (_, offer: SignInOffer) => offer }),
    noteReason: assign({ reason: (_, reason: string) => reason }),
  },
  delays: { lifetime: ({ context }) => context.lifetime },
}).createMachine({
  id: 'sign-in',
  context: ({ input }) => ({ ...input, offer: undefined, reason: undefined }),
  initial: 'open',
  states: {
    open: {
      tags: ['open'],
      initial: 'offered',
      on: { 'cancel.requested': { target: 'cancelled' } },
      after: { lifetime: { target: 'expired' } },
      states: {
        offered: {
          tags: ['offering'],
          invoke: {
            id: 'offer',
            src: 'offer',
            input: ref,
            onDone: { target: 'waiting', actions: { type: 'noteOffer', params: ({ event }) => event.output } },
            onError: { target: '#sign-in.refused', actions: fault },
          },
        },
        waiting: {
          tags: ['waiting'],
          invoke: { id: 'hear', src: 'hear', input: ref, onError: { target: '#sign-in.refused', actions: fault } },
          on: {
            'answer.arrived': { target: 'exchanging' },
            'answer.refused': {
              target: '#sign-in.refused',
              actions: { type: 'noteReason', params: ({ event }) => event.reason },
            },
            'answer.late': { target: '#sign-in.expired' },
          },
        },
        exchanging: {
          invoke: {
            id: 'exchange',
            src: 'exchange',
            input: ref,
            onDone: { target: '#sign-in.connected' },
            onError: { target: '#sign-in.refused', actions: fault },
          },
        },
      },
    },
    connected: { type: 'final', tags: ['connected'] },
    refused: { type: 'final', tags: ['refused'] },
    expired: { type: 'final', tags: ['expired'] },
    cancelled: { type: 'final', tags: ['cancelled'] },
  },
})
