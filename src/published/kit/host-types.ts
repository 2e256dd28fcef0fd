/**
 * What a plugin is told about itself, and what it may ask of the host. Part of the declarations of `svc/plugin`
 * (the build joins the `*-types.ts` files into one): types only.
 */

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

export interface HostCallOptions {
  /** Gives up waiting; the host is not told. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

type Broker = (operation: string, input?: unknown, options?: HostCallOptions) => Promise<unknown>

/** What a plugin may ask of the host. Each part needs the capability named beside it, granted by the installation. */
export interface Host {
  /** `config-read`, `config-write` */
  readonly config: {
    get(key: string, options?: HostCallOptions): Promise<unknown>
    set(key: string, value: unknown, options?: HostCallOptions): Promise<void>
  }
  /** `workspace-read`, `workspace-write`; paths are relative to the workspace */
  readonly workspace: {
    read(path: string, options?: HostCallOptions): Promise<Uint8Array>
    list(path: string, options?: HostCallOptions): Promise<string[]>
    write(path: string, contents: Uint8Array, options?: HostCallOptions): Promise<void>
  }
  /** `event-publish`; the event is called `plugin.<namespace>.<name>` */
  readonly events: {
    publish(
      event: { readonly namespace: string; readonly name: string; readonly payload: unknown },
      options?: HostCallOptions,
    ): Promise<void>
  }
  /** `network` */
  readonly network: { readonly call: Broker }
  /** `process-spawn` */
  readonly process: { readonly call: Broker; cancel(id: string, options?: HostCallOptions): Promise<void> }
  /** `task-spawn` */
  readonly tasks: { readonly call: Broker; cancel(id: string, options?: HostCallOptions): Promise<void> }
  /** `secret-use`, `secret-read` */
  readonly secrets: { readonly use: Broker; readonly read: Broker }
  /** `prompt-read` */
  readonly prompts: { readonly call: Broker }
  /** `message-read` */
  readonly messages: { readonly call: Broker }
  /** `response-transform` */
  readonly responses: { readonly call: Broker }
  /** `provider-access` */
  readonly providers: { readonly call: Broker }
  /** `policy-invoke` */
  readonly policy: { readonly call: Broker }
}

/** The HTTP API of the server, without credentials; there only when the server says where it is. */
export interface PluginClient {
  readonly url: string
  fetch(path: string, init?: RequestInit): Promise<Response>
}
