/**
 * What the host hands to plugins in calls (plugin-protocol §4.7, §5.4, §7.2, §7.3, §8.2). Part of the declarations of
 * `svc/plugin`, which stand alone: types only, without imports.
 */

export interface ServiceRequest {
  readonly workspaceId: string | null
  readonly directory: string | null
  readonly options: Readonly<Record<string, unknown>>
}

export interface PromptRequest {
  readonly promptId: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly service: ServiceRequest
}

export interface PluginEvent {
  readonly id: string
  readonly type: string
  readonly sequence?: number
  readonly properties: unknown
}

export interface RouteRequest {
  readonly tenantId: string | null
  readonly hosted: boolean
  readonly workspaceId: string | null
  readonly workspace: string | null
  readonly sessionId: string | null
  readonly actor: string | null
  readonly generation?: number
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, readonly string[]>>
  /** Lower-case names; credentials and cookies are never among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface GenerationRequest {
  readonly providerId: string
  readonly modelId: string
  readonly connectionId?: string
  readonly tenantId?: string
  readonly workspaceId?: string
  readonly sessionId?: string
  readonly variant?: string
  readonly textVerbosity?: string
  readonly messages: readonly ProviderMessage[]
  readonly tools?: readonly {
    readonly id: string
    readonly description: string
    readonly parameters: unknown
    readonly outputSchema?: unknown
  }[]
  readonly options?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

interface ProviderMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly attachments?: readonly { readonly mime: string; readonly url: string; readonly filename?: string | undefined }[] | undefined
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[] | undefined
  readonly reasoning?: readonly { readonly summary: readonly unknown[]; readonly encryptedContent: string }[] | undefined
  readonly toolCallId?: string | undefined
  readonly toolName?: string | undefined
  readonly toolError?: boolean | undefined
}

export interface MediaRequest {
  readonly serviceId: string
  readonly kind: 'image' | 'video'
  readonly providerId: string
  readonly modelId: string
  readonly connectionId: string | null
  readonly tenantId: string | null
  readonly workspaceId: string | null
  readonly prompt: string
  readonly options: Readonly<Record<string, unknown>>
}
