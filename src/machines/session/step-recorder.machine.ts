/**
 * The record of one step: open while its model and its calls are heard, closed for good by the commit that ends it or takes it back.
 *
 * I1 What was said stands in its rows at the latest `flushInterval` after it was said, as long as they can be written.
 * I2 Text never enters this machine: it hears that something was said that its row does not say yet, once until that is stored.
 */
import { setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

type StepRecorderEvent = { readonly type: 'said' } | { readonly type: 'closed' }

export const stepRecorderMachine = setup({
  types: { events: {} as StepRecorderEvent },
  actors: {
    /** Stores what was said, before it returns; rejects when that is to be tried again. */
    store: requiredPromise<void, undefined>('store'),
  },
  delays: { flushInterval: LIMITS.store.flushInterval },
}).createMachine({
  id: 'step-recorder',
  initial: 'open',
  states: {
    open: {
      tags: ['open'],
      initial: 'stored',
      on: { closed: { target: 'closed' } },
      states: {
        stored: { on: { said: { target: 'behind' } } },
        /** Rows are older than what was said. */
        behind: { tags: ['behind'], after: { flushInterval: { target: 'storing' } } },
        storing: {
          invoke: { id: 'store', src: 'store', onDone: { target: 'stored' }, onError: { target: 'behind' } },
          on: { said: { target: 'behind' } },
        },
      },
    },
    closed: { type: 'final' },
  },
})
