/**
 * One reading of what lies outside, files, a server, a workspace, which may change while it is read.
 *
 * I1 One look at a time. Who asks while one is under way gets another, however many they are: the one under way may have missed what made them ask.
 * I2 A look that failed changes nothing: the next one who asks gets another.
 * I3 A look that has begun ends before the end of everything; none is begun once it is `leaving`.
 */
import { assign, setup, stateIn } from 'xstate'
import { requiredPromise } from '../required.js'

export interface LookInput {
  /** What is looked at, as whoever owns it calls it. */
  readonly what: string
}

export interface LookContext extends LookInput {
  /** How many looks have begun, and how many have ended, however they did. */
  readonly begun: number
  readonly ended: number
  /** Why the last one failed. */
  readonly fault: unknown
}

type LookEvent =
  /** Something changed, or somebody wants to know what is there now. */
  { readonly type: 'asked' } | { readonly type: 'stop.requested' }

const noteFault = { type: 'noteFault', params: ({ event }: { event: { error: unknown } }) => event.error } as const

export const lookMachine = setup({
  types: { input: {} as LookInput, context: {} as LookContext, events: {} as LookEvent, tags: {} as 'looking' | 'leaving' },
  actors: {
    /** Looks, and keeps what it has seen. */
    look: requiredPromise<void, LookInput>('look'),
  },
  guards: { isOutdated: stateIn({ looking: 'outdated' }), isLeaving: stateIn({ looking: 'leaving' }) },
  actions: {
    noteBeginning: assign({ begun: ({ context }) => context.begun + 1 }),
    noteEnd: assign({ ended: ({ context }) => context.ended + 1, fault: undefined }),
    noteFault: assign({ ended: ({ context }) => context.ended + 1, fault: (_, fault: unknown) => fault }),
  },
}).createMachine({
  id: 'look',
  context: ({ input: { what } }) => ({ what, begun: 0, ended: 0, fault: undefined }),
  initial: 'resting',
  on: { 'stop.requested': { target: '.stopped' } },
  states: {
    resting: { on: { asked: { target: 'looking' } } },
    looking: {
      tags: ['looking'],
      entry: 'noteBeginning',
      invoke: {
        id: 'look',
        src: 'look',
        input: ({ context: { what } }) => ({ what }),
        onDone: [
          { guard: 'isLeaving', target: 'stopped', actions: 'noteEnd' },
          { guard: 'isOutdated', target: 'looking', reenter: true, actions: 'noteEnd' },
          { target: 'resting', actions: 'noteEnd' },
        ],
        onError: [
          { guard: 'isLeaving', target: 'stopped', actions: noteFault },
          { guard: 'isOutdated', target: 'looking', reenter: true, actions: noteFault },
          { target: 'failing', actions: noteFault },
        ],
      },
      on: { 'stop.requested': { target: '.leaving' } },
      initial: 'current',
      states: {
        current: { on: { asked: { target: 'outdated' } } },
        /** Somebody asked since the look began. */
        outdated: {},
        leaving: { tags: ['leaving'], on: { 'stop.requested': {} } },
      },
    },
    /** The last look failed. */
    failing: { on: { asked: { target: 'looking' } } },
    stopped: { tags: ['leaving'], type: 'final' },
  },
})
