/** What a plugin author writes: the shape of a plugin. Part of the declarations of `svc/plugin`: types only. */
import type { PluginEvent, PromptRequest, ServiceRequest } from '../../protocol/plugin/plugin-requests.js'
import type { Host } from './host-calls-types.js'
import type { AnyRecord, CallContext, Maybe, Owner, PluginClient } from './host-types.js'
import type { PluginProvider } from './provider-types.js'
import type { PluginRoute, PluginSocketRoute } from './route-types.js'

/** What makes a plugin; every part is optional. */
export interface Plugin {
  /** Shown to people instead of the names in the manifest. */
  readonly name?: string
  readonly version?: string
  readonly tools?: readonly PluginTool[]
  /** By hook name: `chat.messages`, `chat.options`, `chat.headers`, `tool.definition`, `tool.before`, `tool.after`, `shell.env`, `response.text`. */
  readonly hooks?: Readonly<Record<string, HookHandler>>
  readonly events?: EventSubscription
  readonly services?: PluginServices
  readonly routes?: readonly PluginRoute[]
  readonly websocketRoutes?: readonly PluginSocketRoute[]
  readonly messageParts?: readonly MessagePart[]
  readonly mcp?: readonly McpServer[]
  /** What of the plugin does not work, a sentence each: shown to its user beside its state. */
  readonly problems?: readonly string[]
  /** Called once, before the plugin offers anything; a rejection makes the start fail. At most 8 seconds. */
  initialize?(context: InitializeContext): Maybe<void>
}

/** What the host said about this instance, and the door to the host. */
interface InitializeContext extends Owner {
  /** Working directory of this process: the package folder. Workspace files are reached through `host.workspace`. */
  readonly directory: string
  /** `plugins.<id>.options.config` of the installation. */
  readonly config: unknown
  readonly host: Host
  readonly client?: PluginClient
}

// Tools

export interface PluginTool<Input = unknown> {
  /** Name the model calls it by: letters, digits, `_` and `-`. */
  readonly id: string
  /** Tells the model when and how to use it. */
  readonly description: string
  /** JSON Schema of the input object. */
  readonly parameters: AnyRecord
  /** JSON Schema of the output, for models that take one. */
  readonly outputSchema?: unknown
  /** Permission group that decides, and the input argument whose value is judged. */
  readonly permission?: { readonly permission: string; readonly argument: string }
  /** Does the work. What it throws is shown to the model. */
  execute(input: Input, context: ToolContext): Maybe<ToolResult | string>
}

interface ToolContext extends CallContext {
  /** Directory of the session that calls. */
  readonly directory: string
  readonly sessionId?: string
  /** The message and the call in it that this is. */
  readonly messageId?: string
  readonly callId?: string
  /** Of which trace the call is part (W3C Trace Context), where the operator has traces sent: for requests of your own. */
  readonly traceparent?: string
  readonly client?: PluginClient
  /** Shows people how far it is: merged into the metadata of the call while it runs. At most 20 a second, of 16 KiB. */
  progress(metadata: AnyRecord): void
}

export interface ToolResult {
  /** Text for the model; anything else is sent as JSON text. */
  readonly output: unknown
  /** One line for people; the id of the tool when absent. */
  readonly title?: string
  readonly metadata?: AnyRecord
  /** Files beside the text, at most 16: images and documents that the model may see, and people get. All of it fits into one frame. */
  readonly attachments?: readonly ToolAttachment[]
  /** Parts that follow the call on its message, at most 16, each of a kind of `messageParts` and at most 64 KiB; no model sees them. */
  readonly parts?: readonly { readonly id: string; readonly data: unknown }[]
}

/** `data` is sent as Base64; a `url` begins with `data:`. */
type ToolAttachment = { readonly mime: string; readonly filename?: string } & ({ readonly data: Uint8Array } | { readonly url: string })

// Hooks and events

/** Answers what replaces `value`. A rejection makes the hook fail (see the table of hooks for what that means). */
type HookHandler = { call(context: AnyRecord, value: unknown, call: CallContext): unknown }['call']

interface EventSubscription {
  /** Prefixes of event types, such as `session.`; `''` is every event. */
  readonly namespaces?: readonly string[]
  /** Called one event at a time, in order. What it throws is written to standard error. */
  handler?(event: PluginEvent, context: CallContext): unknown
}

// Services

export interface PluginServices {
  readonly agents?: readonly ServiceDeclaration<ServiceRequest, AgentCatalog>[]
  readonly commands?: readonly ServiceDeclaration<ServiceRequest, readonly CommandInfo[]>[]
  readonly skills?: readonly ServiceDeclaration<ServiceRequest, readonly SkillInfo[]>[]
  readonly systemContext?: readonly ServiceDeclaration<ServiceRequest, readonly SystemContextSection[]>[]
  readonly prompts?: readonly ServiceDeclaration<PromptRequest, RenderedPrompt>[]
  readonly config?: readonly ServiceDeclaration<ServiceRequest, ConfigDocument>[]
  readonly providers?: readonly PluginProvider[]
}

interface ServiceDeclaration<Request, Answer> {
  readonly id: string
  /** Higher comes first; 0 when absent. */
  readonly priority?: number
  handler(request: Request, context: CallContext): Maybe<Answer>
}

interface AgentCatalog {
  readonly agents: readonly AgentInfo[]
  readonly defaultAgent: string | null
}

interface AgentInfo {
  readonly name: string
  readonly mode: 'primary' | 'subagent' | 'all'
  readonly description?: string | null
  readonly hidden?: boolean
  readonly topP?: number | null
  readonly temperature?: number | null
  readonly color?: string | null
  readonly permission?: AnyRecord
  readonly model?: { readonly id: string; readonly providerId: string; readonly variant?: string } | null
  readonly variant?: string | null
  readonly prompt?: string | null
  readonly options?: AnyRecord
  readonly steps?: number | null
}

interface CommandInfo {
  readonly name: string
  readonly description: string | null
  readonly template: string | null
  readonly agent?: string | null
  readonly model?: string | null
  readonly subtask?: boolean | null
}

interface SkillInfo {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly path: string | null
}

interface SystemContextSection {
  readonly id: string
  readonly title: string | null
  readonly content: string
}

interface RenderedPrompt {
  readonly content: string
  readonly system?: boolean
}

interface ConfigDocument {
  readonly values: AnyRecord
  readonly provenance?: Readonly<Record<string, string>>
}

interface MessagePart {
  readonly id: string
  readonly version: number
  readonly schema: unknown
  /** Text field shown by clients that do not know the part. */
  readonly fallbackTextField?: string
}

interface McpServer {
  readonly id: string
  readonly transport?: string
  readonly configSchema?: unknown
  readonly authentication?: readonly string[]
  readonly prompts?: boolean
  readonly resources?: boolean
  readonly tools?: boolean
}
