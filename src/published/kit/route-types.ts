/** HTTP routes and sockets as plugins write them. Part of the declarations of `svc/plugin`: types only. */
import type { RouteRequest } from '../../protocol/plugin/plugin-requests.js'
import type { CallContext, Maybe } from './host-types.js'

interface RouteDescriptor {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/v2/plugins/<plugin id>`; `:name` captures one segment. */
  readonly path: string
  readonly scope: 'workspace' | 'session'
  readonly requestSchema?: unknown
  readonly responseSchema?: unknown
}

export interface PluginRoute {
  readonly descriptor: RouteDescriptor
  readonly priority?: number
  handle(request: RouteRequest, context: CallContext): Maybe<RouteResponse>
}

export interface RouteResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as it is when it is a string and `content-type` begins with `text/`. */
  readonly body?: unknown
}

export interface PluginSocketRoute {
  readonly descriptor: RouteDescriptor
  readonly priority?: number
  /** Called before the socket opens; a rejection refuses it. */
  open(request: RouteRequest, context: CallContext): Maybe<SocketSession>
}

export interface SocketSession {
  /** Messages for the client; the socket closes when it ends. */
  readonly outbound: AsyncIterable<WsMessage>
  /** A message of the client, one at a time, in order. */
  message?(message: WsMessage): unknown
  /** The socket is gone. Called once. */
  close?(): unknown
}

export type WsMessage =
  | { readonly kind: 'text'; readonly data: string }
  | { readonly kind: 'binary' | 'ping' | 'pong'; readonly data: readonly number[] }
  | { readonly kind: 'close' }
