/**
 * The connection to one server of the Model Context Protocol, of one workspace (subsystems f.2, f.3).
 *
 * I1 Nothing is connected before somebody wants it. At most one connection is open or being opened.
 * I2 One that is lost is made anew when it is used next; after `strikes` of them in a while it rests first, unless somebody asks for it.
 * I3 A session that the server has forgotten is made anew at once, and once: what fails then is a failure.
 * I4 Whatever happens, what was opened is closed before the next is opened, and before it ends.
 */
import { assign, setup } from 'xstate'
import { toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface McpConnectionInput {
  readonly server: string
  readonly directory: string
}

/** How an attempt to connect ended; what it rejects with is a failure. */
export type McpConnected = 'connected' | 'unauthorised' | 'unregistered'

interface McpConnectionContext extends McpConnectionInput {
  readonly strikes: number
  /** Why it is not connected, for people. */
  readonly reason: string | undefined
}

export type McpConnectionEvent =
  /** Somebody asks for it; a rest does not count. */
  | { readonly type: 'connect.requested' }
  /** Something would use it. */
  | { readonly type: 'connect.wanted' }
  | { readonly type: 'disconnect.requested' }
  /** It is not configured any more, or the service stops. */
  | { readonly type: 'retire.requested' }
  | { readonly type: 'connection.lost'; readonly reason: string }
  /** The server does not know the session any more. */
  | { readonly type: 'session.lost' }
  | { readonly type: 'authorization.lost' }

const place = ({ context: { server, directory } }: { context: McpConnectionContext }): McpConnectionInput => ({ server, directory })
const fault = {
  type: 'noteReason',
  params: ({ event }: { event: { error: unknown } }) => ({ reason: toFailure(event.error).message }),
} as const
const ended = (as: McpConnected) =>
  ({ type: 'hasEnded', params: ({ event }: { event: { output: McpConnected } }) => ({ is: event.output, as }) }) as const
const connect = { 'connect.requested': { target: 'connecting' }, 'connect.wanted': { target: 'connecting' } } as const

export const mcpConnectionMachine = setup({
  types: {
    input: {} as McpConnectionInput,
    context: {} as McpConnectionContext,
    events: {} as McpConnectionEvent,
    tags: {} as 'settled' | 'connecting' | 'connected' | 'unauthorised' | 'unregistered',
  },
  actors: {
    /** Opens a connection, hands over what the server offers, and closes what it opened when it fails. */
    connect: requiredPromise<McpConnected, McpConnectionInput>('connect'),
    /** Reports what becomes of the connection. */
    serve: requiredCallback<McpConnectionInput>('serve'),
    /** Ends the connection with all that belongs to it; resolves when nothing of it runs. */
    close: requiredPromise<void, McpConnectionInput>('close'),
  },
  guards: {
    hasEnded: (_, { is, as }: { is: McpConnected; as: McpConnected }) => is === as,
    maySoonTryAgain: ({ context }) => context.strikes < LIMITS.mcp.retry.tries,
  },
  actions: {
    noteReason: assign({ reason: (_, { reason }: { reason: string | undefined }) => reason }),
    countStrike: assign({ strikes: ({ context }) => context.strikes + 1 }),
    forgiveStrikes: assign({ strikes: 0 }),
  },
  delays: { strikeWindow: LIMITS.mcp.strikeWindow, rest: delayOf(LIMITS.mcp.retry) },
}).createMachine({
  id: 'mcp-connection',
  context: ({ input }) => ({ ...input, strikes: 0, reason: undefined }),
  initial: 'idle',
  on: { 'retire.requested': { target: '.retiring' } },
  states: {
    idle: { tags: ['settled'], on: { ...connect, 'authorization.lost': { target: 'unauthorised' } } },
    connecting: {
      tags: ['connecting'],
      invoke: {
        id: 'connect',
        src: 'connect',
        input: place,
        onDone: [
          { guard: ended('unauthorised'), target: 'unauthorised' },
          { guard: ended('unregistered'), target: 'unregistered' },
          { target: 'connected' },
        ],
        onError: { target: 'failed', actions: ['countStrike', fault] },
      },
      on: { 'disconnect.requested': { target: 'closing' } },
    },
    connected: {
      tags: ['settled', 'connected'],
      entry: { type: 'noteReason', params: { reason: undefined } },
      invoke: { id: 'serve', src: 'serve', input: place, onError: { target: 'breaking', actions: ['countStrike', fault] } },
      after: { strikeWindow: { actions: 'forgiveStrikes' } },
      on: {
        'connection.lost': {
          target: 'breaking',
          actions: ['countStrike', { type: 'noteReason', params: ({ event }) => ({ reason: event.reason }) }],
        },
        'session.lost': { target: 'connecting' },
        'authorization.lost': { target: 'unauthorised' },
        'disconnect.requested': { target: 'closing' },
      },
    },
    /** What is left of a lost connection is ended. */
    breaking: {
      invoke: {
        id: 'break',
        src: 'close',
        input: place,
        onDone: [{ guard: 'maySoonTryAgain', target: 'failed.ripe' }, { target: 'failed' }],
        onError: { target: 'failed' },
      },
    },
    failed: {
      tags: ['settled'],
      initial: 'resting',
      on: { 'connect.requested': { target: 'connecting' }, 'disconnect.requested': { target: 'closing' } },
      states: {
        resting: { after: { rest: { target: 'ripe' } } },
        ripe: { on: { 'connect.wanted': { target: '#mcp-connection.connecting' } } },
      },
    },
    unauthorised: {
      tags: ['settled', 'unauthorised'],
      on: { 'connect.requested': { target: 'connecting' }, 'disconnect.requested': { target: 'closing' } },
    },
    unregistered: {
      tags: ['settled', 'unregistered'],
      on: { 'connect.requested': { target: 'connecting' }, 'disconnect.requested': { target: 'closing' } },
    },
    closing: {
      entry: [{ type: 'noteReason', params: { reason: undefined } }, 'forgiveStrikes'],
      invoke: { id: 'close', src: 'close', input: place, onDone: { target: 'idle' }, onError: { target: 'idle' } },
    },
    retiring: {
      invoke: { id: 'retire', src: 'close', input: place, onDone: { target: 'retired' }, onError: { target: 'retired' } },
      on: { 'retire.requested': {} },
    },
    retired: { type: 'final' },
  },
})
