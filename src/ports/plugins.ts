/** What HTTP and the command line see of plugins (http-contract §5.8); types only. */
import type { Caller } from '../protocol/caller.js'
import type { PackageLifecycleInfo, PluginManifest } from '../protocol/plugin/plugin.js'
import type { PluginSecret, PluginSettings } from '../protocol/plugin/plugin-settings.js'
import type { RouteResponse } from '../protocol/plugin/plugin-services.js'
import type { PluginSocket, SocketOpening } from './contributions.js'
import type { OperationCall } from './doors.js'

/** A call of a contributed route or socket, before it is matched (plugin-protocol §8.2). */
export interface PluginCall {
  readonly pluginId: string
  readonly method: string
  /** The request asks to become a socket: sockets are looked for before routes. */
  readonly upgrade: boolean
  /** Path of the request as it was sent, from `/v2/` on, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  /** Canonical workspace directory, when the caller named one by query or header. */
  readonly directory: string | undefined
  readonly workspaceId: string | undefined
  readonly body: unknown
}

/** Settings and secrets of one package, for the operator; every method throws `resource.not_found` where there is no such package. */
export interface PluginSettingsDoor {
  settings(directory: string, pluginId: string): Promise<PluginSettings>
  giveSecret(directory: string, pluginId: string, secret: { readonly alias: string; readonly value: string }): Promise<PluginSecret>
  /** Answers whether there was one. */
  takeSecret(directory: string, pluginId: string, alias: string): Promise<boolean>
}

export interface Plugins extends PluginSettingsDoor {
  /** Built-in plugins, then those of the workspace by id. */
  list(directory: string): Promise<PluginManifest[]>
  /** A fresh look at every package of the workspace. */
  lifecycle(directory: string): Promise<PackageLifecycleInfo[]>
  /** Throws `resource.not_found`. */
  manifest(directory: string, pluginId: string): Promise<PluginManifest>
  /** Calls an operation of the contract that a built-in plugin serves; throws `feature.not_implemented` while none does. */
  call(operationId: string, call: OperationCall): Promise<unknown>
  /** As `call`, for an operation that becomes a socket: the ticket is used from here on, and opens it at most once. Throws nothing. */
  present(operationId: string, ticket: string): SocketOpening
  /** Whether `method path` is a contributed route (`route`) or socket (`socket`) and who may call it; throws `resource.not_found`. */
  match(caller: Caller, call: Omit<PluginCall, 'body'>): Promise<PluginRouteMatch>
}

/** A matched contributed route: `sessionId` is set for session routes, and admission has to check it. */
export interface PluginRouteMatch {
  readonly kind: 'route' | 'socket'
  readonly directory: string
  readonly sessionId: string | undefined
  /** Runs the handler; throws `plugin.route_failed`, `plugin.generation_closed`. */
  handle(body: unknown, signal: AbortSignal): Promise<RouteResponse>
  /** Opens the socket, before the upgrade; throws `plugin.websocket_rejected`. */
  open(signal: AbortSignal): Promise<PluginSocket>
}
