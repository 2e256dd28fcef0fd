/**
 * What a plugin of any tier may contribute besides tools and providers. The registry takes nothing else: Lua and
 * process plugins are turned into these by `external.ts`, built-ins return them from `start`.
 */
import type { McpDeclaration, PartDeclaration, RouteDescriptor } from '../../protocol/plugin-frame.js'
import type {
  AgentCatalog,
  PluginCommand,
  PluginConfigDocument,
  PluginEvent,
  PluginSkill,
  PromptRequest,
  RenderedPrompt,
  RouteRequest,
  RouteResponse,
  ServiceRequest,
  SocketMessage,
  SystemContextSection,
} from '../../protocol/plugin-services.js'
import type { Operation } from './native-doors.js'

/** Names of hooks that are called; other names may be contributed and are never called (plugin-protocol §5.1). */
export const HOOK_NAMES = [
  'chat.messages',
  'chat.options',
  'chat.headers',
  'tool.definition',
  'tool.before',
  'tool.after',
  'shell.env',
] as const
export type HookName = (typeof HOOK_NAMES)[number]

/** Answers the value that replaces `value`. Rejects to fail the chain. */
export type Hook = (context: Readonly<Record<string, unknown>>, value: unknown, signal: AbortSignal) => Promise<unknown>

export interface EventsContribution {
  /** Plain prefixes of event types; `''` matches every type. */
  readonly namespaces: readonly string[]
  /** Called after the commit, in publish order; never awaited, must not throw. */
  deliver(event: PluginEvent): void
}

/** A service with a priority: higher first, ties by id. */
export interface Service<Call> {
  readonly id: string
  readonly priority: number
  readonly call: Call
}

export type AgentService = Service<(request: ServiceRequest) => Promise<AgentCatalog>>
export type CommandService = Service<(request: ServiceRequest) => Promise<readonly PluginCommand[]>>
export type SkillService = Service<(request: ServiceRequest) => Promise<readonly PluginSkill[]>>
export type ContextService = Service<(request: ServiceRequest) => Promise<readonly SystemContextSection[]>>
export type PromptService = Service<(request: PromptRequest) => Promise<RenderedPrompt>>
export type ConfigService = Service<(request: ServiceRequest) => Promise<PluginConfigDocument>>

export interface RouteContribution {
  readonly descriptor: RouteDescriptor
  readonly priority: number
  handle(request: RouteRequest, signal: AbortSignal): Promise<RouteResponse>
}

/** One open socket, seen from the plugin's side. */
export interface PluginSocket {
  /** Messages for the client; ends when the plugin is done, throws when it failed. */
  readonly outbound: AsyncIterable<SocketMessage>
  /** A message of the client. Throws when it cannot be passed on: the socket is closed (1009 for `request.body_too_large`, else 1013). */
  receive(message: SocketMessage): void
  /** The client is gone. Idempotent. */
  close(): void
}

export interface SocketRouteContribution {
  readonly descriptor: RouteDescriptor
  readonly priority: number
  /** Called before the upgrade; a rejection refuses the socket. */
  open(request: RouteRequest, signal: AbortSignal): Promise<PluginSocket>
}

export interface ExtraContributions {
  /** Operations of the HTTP contract, by operation id; native plugins only. */
  readonly operations?: Readonly<Record<string, Operation>>
  readonly hooks?: Readonly<Record<string, Hook>>
  readonly events?: EventsContribution
  readonly agents?: readonly AgentService[]
  readonly commands?: readonly CommandService[]
  readonly skills?: readonly SkillService[]
  readonly systemContext?: readonly ContextService[]
  readonly prompts?: readonly PromptService[]
  readonly config?: readonly ConfigService[]
  readonly routes?: readonly RouteContribution[]
  readonly websocketRoutes?: readonly SocketRouteContribution[]
  readonly messageParts?: readonly PartDeclaration[]
  readonly mcp?: readonly McpDeclaration[]
}
