/**
 * The ids by which one incarnation of a plugin names what the host holds open for it (plugin-protocol §10): one table for all of them.
 *
 * I1 Once revoked it gives no id and knows none, whatever is still being ended.
 * I2 It is over when nothing it named is open, or its time is; the next incarnation has a table of its own.
 * I3 Neither ids nor what they name pass here: they are only counted.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'

interface HandlesInput {
  readonly pluginId: string
  readonly instanceId: string
  readonly generation: number
}

interface HandleCounts {
  /** Ever given, and those that name something now. */
  readonly issued: number
  readonly open: number
  /** Times it was asked for one that it did not know. */
  readonly refused: number
}

export type HandlesEvent =
  | { readonly type: 'handle.issued' }
  /** What it named has ended. */
  | { readonly type: 'handle.closed' }
  /** An id was named that is none of this table: of another incarnation, another kind, made up, or over. */
  | { readonly type: 'handle.refused' }
  /** The generation retires, its program has ended, or the service stops. */
  | { readonly type: 'revoked' }

export const handlesMachine = setup({
  types: { input: {} as HandlesInput, context: {} as HandlesInput & HandleCounts, events: {} as HandlesEvent, tags: {} as 'issuing' },
  actions: {
    countIssued: assign({ issued: ({ context }) => context.issued + 1, open: ({ context }) => context.open + 1 }),
    countClosed: assign({ open: ({ context }) => context.open - 1 }),
    countRefused: assign({ refused: ({ context }) => context.refused + 1 }),
  },
  guards: { isEmpty: ({ context }) => context.open === 0 },
  delays: { freeLimit: LIMITS.brokers.free },
}).createMachine({
  id: 'handles',
  context: ({ input }) => ({ ...input, issued: 0, open: 0, refused: 0 }),
  initial: 'issuing',
  on: {
    'handle.closed': { actions: 'countClosed' },
    'handle.refused': { actions: 'countRefused' },
  },
  states: {
    issuing: {
      tags: ['issuing'],
      on: { 'handle.issued': { actions: 'countIssued' }, revoked: 'closing' },
    },
    closing: {
      always: { guard: 'isEmpty', target: 'over' },
      after: { freeLimit: 'over' },
    },
    over: { type: 'final' },
  },
})
