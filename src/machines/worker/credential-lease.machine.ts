/**
 * A credential for the models of one provider, lent by the host for a while (docs/workers.md).
 *
 * I1 No secret enters it; its effects keep the credential, in memory alone.
 * I2 A credential is asked for when a model is called, and renewed before its end where one was called since: who calls no model asks for nothing.
 *    Whoever uses it looks at its end: clocks step, and machines sleep.
 * I3 A refusal is told to every call, and asked about again after a pause; once the generation is over nothing is asked any more.
 */
import { assign, setup } from 'xstate'
import { requiredPromise } from '../required.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'

/** Why the host gives no credential, as it is told to who calls a model. */
export interface LeaseFailure {
  /** `over`: no such worker any more. `refused`: not this one. `unanswered`: it is not known. */
  readonly kind: 'over' | 'refused' | 'unanswered'
  /** A sentence. */
  readonly message: string
  /** When the host wants to be asked again, ms. */
  readonly retryAfterMs?: number
}

/** What the effect rejects with. */
export class NoLease extends Error {
  readonly failure: LeaseFailure
  constructor(failure: LeaseFailure) {
    super(failure.message)
    this.name = 'NoLease'
    this.failure = failure
  }
}

export interface LeaseInput {
  readonly providerId: string
}

interface LeaseContext extends LeaseInput {
  /** ms, of the credential at hand when it came. */
  readonly lifetime: number
  readonly isUsed: boolean
  /** In a row. */
  readonly failures: number
  readonly failure: LeaseFailure | undefined
}

type LeaseEvent =
  /** A model is called with it. */
  | { readonly type: 'used' }
  /** The provider does not take it. */
  | { readonly type: 'rejected' }
  | { readonly type: 'stop.requested' }

const { pauses, refusalPause, margin, marginShare } = LIMITS.modelBroker
const marginOf = ({ lifetime }: LeaseContext) => Math.min(margin, lifetime * marginShare)
const failureOf = (error: unknown): LeaseFailure =>
  error instanceof NoLease ? error.failure : { kind: 'unanswered', message: 'The host could not be asked for a credential.' }
const params = ({ event }: { event: { readonly error: unknown } }) => ({ error: event.error })

const ends = [
  { guard: { type: 'isOver', params }, target: 'over', actions: { type: 'noteFailure', params } },
  { guard: { type: 'isRefused', params }, target: 'refused', actions: { type: 'noteFailure', params } },
] as const

export const credentialLeaseMachine = setup({
  types: {
    input: {} as LeaseInput,
    context: {} as LeaseContext,
    events: {} as LeaseEvent,
    tags: {} as 'good' | 'without',
  },
  actors: {
    /** Asks the host and keeps what it gives; resolves with how long that is good, ms. Rejects with `NoLease`. */
    ask: requiredPromise<number, LeaseInput>('ask'),
  },
  guards: {
    isUsed: ({ context }) => context.isUsed,
    /** What was at hand has ended by now. */
    isLate: ({ context }) => context.failures >= pauses.tries,
    isOver: (_, { error }: { error: unknown }) => failureOf(error).kind === 'over',
    isRefused: (_, { error }: { error: unknown }) => failureOf(error).kind === 'refused',
  },
  actions: {
    noteUse: assign({ isUsed: true }),
    noteCredential: assign((_, { lifetime }: { lifetime: number }) => ({ lifetime, isUsed: false, failures: 0, failure: undefined })),
    noteFailure: assign(({ context }, { error }: { error: unknown }) => ({ failure: failureOf(error), failures: context.failures + 1 })),
  },
  delays: {
    renewal: ({ context }) => context.lifetime - marginOf(context),
    pause: ({ context: { failures, failure } }) => Math.min(Math.max(delayOf(pauses, failures), failure?.retryAfterMs ?? 0), pauses.most),
    refusalPause,
  },
}).createMachine({
  id: 'credential-lease',
  context: ({ input }) => ({ ...input, lifetime: 0, isUsed: false, failures: 0, failure: undefined }),
  initial: 'asking',
  on: { 'stop.requested': '.left' },
  states: {
    asking: {
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context }) => context,
        onDone: { target: 'held', actions: { type: 'noteCredential', params: ({ event }) => ({ lifetime: event.output }) } },
        onError: [...ends, { target: 'resting', actions: { type: 'noteFailure', params } }],
      },
    },
    held: {
      tags: 'good',
      on: { used: { actions: 'noteUse' }, rejected: 'asking' },
      after: { renewal: [{ guard: 'isUsed', target: 'renewing' }, { target: 'left' }] },
    },
    renewing: {
      tags: 'good',
      on: { rejected: 'asking' },
      invoke: {
        id: 'renew',
        src: 'ask',
        input: ({ context }) => context,
        onDone: { target: 'held', actions: { type: 'noteCredential', params: ({ event }) => ({ lifetime: event.output }) } },
        onError: [...ends, { target: 'pausing', actions: { type: 'noteFailure', params } }],
      },
    },
    pausing: {
      tags: 'good',
      on: { rejected: 'asking' },
      after: { pause: [{ guard: 'isLate', target: 'left' }, { target: 'renewing' }] },
    },
    refused: { tags: 'without', after: { refusalPause: 'left' } },
    resting: { tags: 'without', after: { pause: 'left' } },
    over: { tags: 'without' },
    left: { type: 'final' },
  },
})
