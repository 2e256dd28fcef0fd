/**
 * What a plugin is told about itself, and what it may ask of the host. Part of the declarations of `svc/plugin`
 * (the build joins the `*-types.ts` files into one): types only.
 */
import type { Host } from './host-calls-types.js'

export type Maybe<T> = T | Promise<T>
export type AnyRecord = Readonly<Record<string, unknown>>

/** Which plugin, instance and scope a frame belongs to. */
export interface Owner {
  readonly pluginId: string
  readonly instanceId: string
  readonly packageRevision?: string
  readonly registryGeneration?: number
  readonly scope?: 'global' | 'user' | 'workspace' | 'session'
  readonly workspaceId?: string
  readonly scopeId?: string
}

/** In every context of a call. */
export interface CallContext {
  readonly host: Host
  /** Aborted when the caller no longer wants the answer, and at shutdown. */
  readonly signal: AbortSignal
}

/** The HTTP API of the server, without credentials; there only when the server says where it is. */
export interface PluginClient {
  readonly url: string
  fetch(path: string, init?: RequestInit): Promise<Response>
}
