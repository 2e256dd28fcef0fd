/**
 * The lease of one controller in the database: what it holds of workspaces counts only while this lives there.
 *
 * I1 Who owns what is decided by rows and their fences, by the time of the database. This chart only stops early: it never makes an owner.
 * I2 A lease that may have ended is lost: nothing is driven under it again, and the next one has another name.
 * I3 It ends by being given back, so that another takes over at once.
 */
import { assign, setup } from 'xstate'
import { requiredPromise } from './required.js'

export interface LeaseInput {
  /** How long each renewal makes it last, ms. */
  readonly lasts: number
  /** The controller; each lease of it has a name of its own. */
  readonly controller: string
}

interface LeaseContext extends LeaseInput {
  /** Under which name it stands in the database. */
  readonly holder: string | undefined
}

/** In parts of how long it lasts. */
export const LEASE_PARTS = { renew: 0.3, again: 0.06, over: 1 }

const part =
  (of: keyof typeof LEASE_PARTS) =>
  ({ context }: { context: LeaseContext }): number =>
    LEASE_PARTS[of] * context.lasts

export const leaseMachine = setup({
  types: {
    input: {} as LeaseInput,
    context: {} as LeaseContext,
    events: {} as { readonly type: 'stop.requested' },
    /** `driving`: what it holds may be acted on. */
    tags: {} as 'driving',
  },
  actors: {
    /** Writes a row under a new name; answers the name. */
    join: requiredPromise<string, LeaseInput>('join'),
    /** Makes it last longer; false when it has ended before. */
    renew: requiredPromise<boolean, { readonly holder: string }>('renew'),
    /** Takes the row away, and with it all that it holds. */
    leave: requiredPromise<void, { readonly holder: string }>('leave'),
  },
  actions: {
    noteHolder: assign({ holder: (_, { holder }: { holder: string }) => holder }),
    forgetHolder: assign({ holder: undefined }),
  },
  guards: { isRenewed: (_, { renewed }: { renewed: boolean }) => renewed, hasHolder: ({ context }) => context.holder !== undefined },
  delays: { renew: part('renew'), again: part('again'), over: part('over') },
}).createMachine({
  id: 'lease',
  context: ({ input }) => ({ ...input, holder: undefined }),
  initial: 'joining',
  states: {
    joining: {
      invoke: {
        src: 'join',
        input: ({ context: { controller, lasts } }) => ({ controller, lasts }),
        onDone: { target: 'live', actions: { type: 'noteHolder', params: ({ event }) => ({ holder: event.output }) } },
        onError: 'absent',
      },
      on: { 'stop.requested': 'left' },
    },
    absent: { after: { again: 'joining' }, on: { 'stop.requested': 'left' } },
    live: {
      tags: 'driving',
      initial: 'held',
      states: {
        held: { after: { renew: 'renewing' } },
        renewing: {
          invoke: {
            src: 'renew',
            input: ({ context: { holder } }) => ({ holder: holder ?? '' }),
            onDone: [
              { guard: { type: 'isRenewed', params: ({ event }) => ({ renewed: event.output }) }, target: '#lease.live', reenter: true },
              { target: '#lease.lost' },
            ],
            onError: 'doubted',
          },
        },
        doubted: { after: { again: 'renewing' } },
      },
      // Counted from the last renewal: the state is entered anew by each.
      after: { over: 'lost' },
      on: { 'stop.requested': 'leaving' },
    },
    lost: { entry: 'forgetHolder', always: 'joining' },
    leaving: {
      invoke: {
        src: 'leave',
        input: ({ context: { holder } }) => ({ holder: holder ?? '' }),
        onDone: 'left',
        // It ends by itself.
        onError: 'left',
      },
    },
    left: { type: 'final', entry: 'forgetHolder' },
  },
})
