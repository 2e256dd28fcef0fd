/**
 * A checkout whose branch somebody may want to know, from the first question about it to an hour after the last (subsystems h).
 *
 * I1 While it is followed, a change of its HEAD leads to a look that began after it.
 * I2 One look at a time: what an earlier one saw is never told after what a later one saw.
 */
import { setup, stateIn } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface CheckoutInput {
  /** Canonical root of the worktree. */
  readonly worktree: string
}

type CheckoutEvent =
  /** Somebody asked about it. */
  | { readonly type: 'used' }
  /** Its HEAD may have changed. */
  | { readonly type: 'changed' }
  /** Nothing more will be told of it. */
  | { readonly type: 'lost' }
  | { readonly type: 'stop.requested' }

export const checkoutMachine = setup({
  types: { input: {} as CheckoutInput, context: {} as CheckoutInput, events: {} as CheckoutEvent },
  actors: {
    /** Watches HEAD until it is left; reports `changed` and `lost`. */
    follow: requiredCallback<CheckoutInput>('follow'),
    /** Reads the branch, and tells it when it is another one. */
    look: requiredPromise<void, CheckoutInput>('look'),
  },
  guards: { isOutdated: stateIn({ followed: { branch: { looking: 'outdated' } } }) },
  delays: { idle: LIMITS.vcs.idle },
}).createMachine({
  id: 'checkout',
  context: ({ input }) => input,
  initial: 'followed',
  states: {
    followed: {
      type: 'parallel',
      invoke: { id: 'follow', src: 'follow', input: ({ context }) => context, onError: 'left' },
      on: { lost: 'left', 'stop.requested': 'left' },
      states: {
        use: {
          initial: 'recent',
          states: { recent: { on: { used: { target: 'recent', reenter: true } }, after: { idle: '#checkout.left' } } },
        },
        branch: {
          initial: 'known',
          states: {
            known: { on: { changed: 'looking' } },
            looking: {
              invoke: {
                id: 'look',
                src: 'look',
                input: ({ context }) => context,
                onDone: [{ guard: 'isOutdated', target: 'looking', reenter: true }, { target: 'known' }],
                onError: '#checkout.left',
              },
              initial: 'current',
              states: {
                current: { on: { changed: 'outdated' } },
                /** HEAD has changed since the look began. */
                outdated: {},
              },
            },
          },
        },
      },
    },
    left: { type: 'final' },
  },
})
