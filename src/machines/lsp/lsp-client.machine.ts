/**
 * One language server for one project of a workspace (subsystems e.4).
 *
 * I1 Nothing is started before somebody asks. At most one program runs, and there is one handshake for all who wait.
 * I2 One that broke is started again when it is asked next, `retry` later at the soonest; asking meanwhile changes nothing of that.
 * I3 One that nobody asks is ended, and starts again when it is asked.
 * I4 Whatever happens, what was started is gone before the next is started, and before the client ends.
 */
import { assign, setup } from 'xstate'
import { toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

export interface LspClientInput {
  readonly adapter: string
  readonly directory: string
  /** The project in it. */
  readonly root: string
}

interface LspClientContext extends LspClientInput {
  /** Why it does not run, for people. */
  readonly reason: string | undefined
  /** It has answered before it broke: it is worth waiting for. */
  readonly hasServed: boolean
}

export type LspClientEvent =
  /** A question comes. */
  | { readonly type: 'query.asked' }
  | { readonly type: 'server.lost'; readonly reason: string }
  /** Its configuration changed, it has to make room, or the service stops. */
  | { readonly type: 'retire.requested' }

const place = ({ context: { adapter, directory, root } }: { context: LspClientContext }): LspClientInput => ({ adapter, directory, root })

export const lspClientMachine = setup({
  types: {
    input: {} as LspClientInput,
    context: {} as LspClientContext,
    events: {} as LspClientEvent,
    /** `waiting`: it is started again later, whoever asks. */
    tags: {} as 'settled' | 'starting' | 'ready' | 'broken' | 'waiting',
  },
  actors: {
    /** Starts the program and greets it; what was started is gone when it rejects. */
    start: requiredPromise<void, LspClientInput>('start'),
    /** Says goodbye and ends the program; resolves when nothing of it runs. */
    close: requiredPromise<void, LspClientInput>('close'),
  },
  actions: {
    noteReason: assign({ reason: (_, { reason }: { reason: string | undefined }) => reason }),
    noteServed: assign({ hasServed: (_, { hasServed }: { hasServed: boolean }) => hasServed }),
  },
  delays: { retry: delayOf(LIMITS.lsp.retry), idle: LIMITS.lsp.idle },
}).createMachine({
  id: 'lsp-client',
  context: ({ input }) => ({ ...input, reason: undefined, hasServed: false }),
  initial: 'cold',
  on: { 'retire.requested': { target: '.retiring' } },
  states: {
    cold: { tags: ['settled'], on: { 'query.asked': { target: 'starting' } } },
    starting: {
      tags: ['starting'],
      invoke: {
        id: 'start',
        src: 'start',
        input: place,
        onDone: { target: 'ready' },
        onError: {
          target: 'broken',
          actions: [
            { type: 'noteReason', params: ({ event }) => ({ reason: toFailure(event.error).message }) },
            { type: 'noteServed', params: { hasServed: false } },
          ],
        },
      },
      on: {
        'server.lost': {
          target: 'broken',
          actions: [
            { type: 'noteReason', params: ({ event }) => ({ reason: event.reason }) },
            { type: 'noteServed', params: { hasServed: false } },
          ],
        },
      },
    },
    ready: {
      tags: ['settled', 'ready'],
      entry: [
        { type: 'noteReason', params: { reason: undefined } },
        { type: 'noteServed', params: { hasServed: true } },
      ],
      after: { idle: { target: 'leaving' } },
      on: {
        'query.asked': { target: 'ready', reenter: true },
        'server.lost': { target: 'broken', actions: { type: 'noteReason', params: ({ event }) => ({ reason: event.reason }) } },
      },
    },
    leaving: {
      invoke: { id: 'leave', src: 'close', input: place, onDone: { target: 'cold' }, onError: { target: 'cold' } },
    },
    /** What is left of it is ended. */
    broken: {
      tags: ['broken'],
      invoke: { id: 'break', src: 'close', input: place, onDone: { target: 'backingOff' }, onError: { target: 'backingOff' } },
    },
    backingOff: { tags: ['settled', 'broken', 'waiting'], after: { retry: { target: 'rested' } } },
    rested: { tags: ['settled', 'broken'], on: { 'query.asked': { target: 'starting' } } },
    retiring: {
      invoke: { id: 'retire', src: 'close', input: place, onDone: { target: 'retired' }, onError: { target: 'retired' } },
      on: { 'retire.requested': {} },
    },
    retired: { type: 'final' },
  },
})
