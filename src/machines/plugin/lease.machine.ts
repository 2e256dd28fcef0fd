/**
 * What one incarnation of a plugin holds of one capability that a broker serves: granted, used, revoked (plugin-protocol §2.5, §3.6).
 *
 * I1 A lease that is revoked answers nothing more, and is never granted again: the next generation has its own.
 * I2 It has ended when nothing is open that it opened, `freeLimit` after it was revoked at the latest, and then says so.
 * I3 What passes through it (requests, answers, bytes) does not pass here: it is only counted.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import type { HostCapability } from '../../protocol/plugin/plugin.js'
import { requiredPromise } from '../required.js'

interface LeaseInput {
  /** By which its effects find it. */
  readonly key: string
  readonly pluginId: string
  readonly generation: number
  readonly capability: HostCapability
}

export interface LeaseCounts {
  readonly calls: number
  /** Calls that were refused or failed. */
  readonly denied: number
  /** Calls under way, and what they have left open. */
  readonly running: number
  readonly open: number
  readonly bytes: number
}

interface LeaseContext extends LeaseInput, LeaseCounts {
  /** Something was still open when its time was over. */
  readonly isOverdue: boolean
}

export type LeaseEvent =
  | { readonly type: 'call.begun' }
  | { readonly type: 'call.ended'; readonly isDenied: boolean; readonly bytes: number }
  /** Something stays open when its call has ended: an answer that is read, a program, a task. */
  | { readonly type: 'resource.opened' }
  | { readonly type: 'resource.closed' }
  /** The generation retires, its program has ended, or the service stops. */
  | { readonly type: 'revoked' }

const subject = ({ context: { key } }: { readonly context: LeaseContext }) => ({ key })

export const leaseMachine = setup({
  types: { input: {} as LeaseInput, context: {} as LeaseContext, events: {} as LeaseEvent, tags: {} as 'answering' },
  actors: {
    /** Aborts every call and ends all that is open, at once; resolves when it has ended. */
    free: requiredPromise<void, { readonly key: string }>('free'),
  },
  actions: {
    countCall: assign({ calls: ({ context }) => context.calls + 1, running: ({ context }) => context.running + 1 }),
    countEnd: assign(({ context }, { isDenied, bytes }: { readonly isDenied: boolean; readonly bytes: number }) => ({
      running: context.running - 1,
      denied: context.denied + (isDenied ? 1 : 0),
      bytes: context.bytes + bytes,
    })),
    countOpened: assign({ open: ({ context }) => context.open + 1 }),
    countClosed: assign({ open: ({ context }) => context.open - 1 }),
    noteOverdue: assign({ isOverdue: true }),
  },
  delays: { freeLimit: LIMITS.brokers.free },
}).createMachine({
  id: 'lease',
  context: ({ input }) => ({ ...input, calls: 0, denied: 0, running: 0, open: 0, bytes: 0, isOverdue: false }),
  initial: 'granted',
  on: {
    'call.ended': { actions: { type: 'countEnd', params: ({ event }) => event } },
    'resource.closed': { actions: 'countClosed' },
  },
  states: {
    granted: {
      tags: ['answering'],
      on: { 'call.begun': { target: 'used', actions: 'countCall' }, revoked: 'revoked' },
    },
    used: {
      tags: ['answering'],
      on: {
        'call.begun': { actions: 'countCall' },
        'resource.opened': { actions: 'countOpened' },
        revoked: 'freeing',
      },
    },
    freeing: {
      invoke: {
        id: 'free',
        src: 'free',
        input: subject,
        onDone: 'revoked',
        onError: { target: 'revoked', actions: 'noteOverdue' },
      },
      after: { freeLimit: { target: 'revoked', actions: 'noteOverdue' } },
    },
    revoked: { type: 'final' },
  },
})
