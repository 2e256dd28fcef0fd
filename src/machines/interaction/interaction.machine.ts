/**
 * One request for a permission or for answers, from its row to the end of its row (sessions-events §8.10–8.11, §9).
 *
 * I1 It ends when its row has: whoever commits an end tells it, and only then.
 * I2 Whoever asked waits while it is `awaited`: until its end, or until its withdrawal could not be recorded. Then it stays asked until
 *    the end of its run is recorded.
 * I3 What an unattended run asks expires after `unattendedWait`, tried again while the store fails; every other request waits.
 */
import { setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

export interface InteractionInput {
  readonly id: string
  readonly kind: 'permission' | 'question'
  readonly sessionId: string
  /** Nobody is expected to answer. */
  readonly isUnattended: boolean
}

export type InteractionEnd = 'answered' | 'expired' | 'withdrawn'

type InteractionEvent =
  | { readonly type: 'answer.recorded' }
  | { readonly type: 'expiry.recorded' }
  | { readonly type: 'withdrawal.recorded' }
  /** The call that asked has ended. */
  | { readonly type: 'asker.left' }

export const interactionMachine = setup({
  types: { input: {} as InteractionInput, context: {} as InteractionInput, events: {} as InteractionEvent, tags: {} as 'awaited' },
  actors: {
    /** Records that nobody has answered, and tells it. */
    recordExpiry: requiredPromise<void, { id: string }>('recordExpiry'),
    /** Records that the request is withdrawn, and tells it. */
    recordWithdrawal: requiredPromise<void, { id: string }>('recordWithdrawal'),
  },
  guards: { isUnattended: ({ context }) => context.isUnattended },
  delays: { unattendedWait: LIMITS.run.unattendedWait, faultRetry: LIMITS.sessions.fault.most },
}).createMachine({
  id: 'interaction',
  context: ({ input }) => input,
  initial: 'asked',
  states: {
    asked: {
      initial: 'waiting',
      on: { 'answer.recorded': 'answered', 'expiry.recorded': 'expired', 'withdrawal.recorded': 'withdrawn' },
      states: {
        waiting: {
          tags: ['awaited'],
          initial: 'attended',
          on: { 'asker.left': 'withdrawing' },
          states: {
            attended: { always: { guard: 'isUnattended', target: 'unattended' } },
            unattended: { after: { unattendedWait: 'expiring' } },
            expiring: {
              invoke: {
                id: 'recordExpiry',
                src: 'recordExpiry',
                input: ({ context: { id } }) => ({ id }),
                onDone: '#interaction.expired',
                onError: 'delayed',
              },
            },
            delayed: { after: { faultRetry: 'expiring' } },
          },
        },
        withdrawing: {
          tags: ['awaited'],
          invoke: {
            id: 'recordWithdrawal',
            src: 'recordWithdrawal',
            input: ({ context: { id } }) => ({ id }),
            onDone: '#interaction.withdrawn',
            onError: 'abandoned',
          },
        },
        abandoned: {},
      },
    },
    answered: { type: 'final' },
    expired: { type: 'final' },
    withdrawn: { type: 'final' },
  },
})
