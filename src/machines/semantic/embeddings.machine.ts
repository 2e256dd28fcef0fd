/**
 * Vectors of what was said, from nothing given to everything having one (subsystems i).
 *
 * I1 One pass at a time; what is said meanwhile leads to one more. A service that failed, or was sent as much as it may be, is left alone
 *    until its time has come.
 * I2 What a search is told (`state`) is what the last pass came to, also while the next one is under way.
 */
import { assign, setup, stateIn } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import type { EmbeddingState } from '../../protocol/session/search.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

interface EmbeddingsContext {
  readonly state: EmbeddingState
}

/** `behind`: no more may be sent for now. */
export type Passed = Exclude<EmbeddingState, 'failing'>

type EmbeddingsEvent =
  /** Something may have no vector yet. */
  { readonly type: 'asked' } | { readonly type: 'stop.requested' }

const passed = (as: Passed) =>
  ({ type: 'isPassed', params: ({ event }: { event: { output: Passed } }) => ({ is: event.output, as }) }) as const
const note = { type: 'note', params: ({ event }: { event: { output: Passed } }) => event.output } as const

export const embeddingsMachine = setup({
  types: { context: {} as EmbeddingsContext, events: {} as EmbeddingsEvent },
  actors: {
    /** Gives a vector to whatever has none, or as much of it as may be sent. */
    pass: requiredPromise<Passed, undefined>('pass'),
  },
  guards: {
    isPassed: (_, { is, as }: { is: Passed; as: Passed }) => is === as,
    isOutdated: stateIn({ passing: 'outdated' }),
  },
  actions: {
    note: assign({ state: (_, state: Passed) => state }),
    noteFailure: assign({ state: 'failing' }),
  },
  delays: { hour: LIMITS.embeddings.hour, retry: delayOf(LIMITS.embeddings.retry) },
}).createMachine({
  id: 'embeddings',
  context: { state: 'behind' },
  initial: 'resting',
  on: { 'stop.requested': { target: '.stopped' } },
  states: {
    resting: { on: { asked: { target: 'passing' } } },
    passing: {
      invoke: {
        id: 'pass',
        src: 'pass',
        input: undefined,
        onDone: [
          { guard: passed('behind'), target: 'spent', actions: note },
          { guard: 'isOutdated', target: 'passing', reenter: true, actions: note },
          { target: 'resting', actions: note },
        ],
        onError: { target: 'failing', actions: 'noteFailure' },
      },
      initial: 'current',
      states: {
        current: { on: { asked: { target: 'outdated' } } },
        /** Something was said since the pass began. */
        outdated: {},
      },
    },
    /** As much as may be sent was sent. */
    spent: { after: { hour: { target: 'passing' } } },
    failing: { after: { retry: { target: 'passing' } } },
    stopped: { type: 'final' },
  },
})
