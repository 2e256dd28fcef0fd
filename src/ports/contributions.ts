/**
 * What a plugin of any tier may contribute besides tools and providers. The registry takes nothing else: Lua and
 * process plugins are turned into these by `external.ts`, built-ins return them from `start`.
 */
import type { Caller } from '../protocol/caller.js'
import type { Session } from '../protocol/session/session.js'
import type { McpDeclaration, PartDeclaration, RouteDescriptor } from '../protocol/plugin/plugin-frame.js'
import type { PluginEvent, PromptRequest, RouteRequest, ServiceRequest } from '../protocol/plugin/plugin-requests.js'
import type {
  AgentCatalog,
  PluginCommand,
  PluginConfigDocument,
  PluginSkill,
  RenderedPrompt,
  RouteResponse,
  SocketMessage,
  SystemContextSection,
} from '../protocol/plugin/plugin-services.js'
import type { Operation, OperationCall } from './doors.js'
import type { InRun } from './programs.js'

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
/** Asked of plugins with the capability `response-transform` alone: the text of an answer of a model, once it has ended. */
export const RESPONSE_HOOK = 'response.text'
/** Listed among hooks, but none: delivery of events (plugin-protocol §5.4). */
export const EVENT_HOOK = 'event'
export type HookName = (typeof HOOK_NAMES)[number] | typeof RESPONSE_HOOK

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
  /** Asked anew and waited for each time, because its answers must not be old; native plugins only. */
  readonly isFresh?: true
  readonly call: Call
}

export type AgentService = Service<(request: ServiceRequest) => Promise<AgentCatalog>>
export interface CommandService extends Service<(request: ServiceRequest) => Promise<readonly PluginCommand[]>> {
  /** The prompt that a command stands for, instead of its template; undefined for one that is not of this service. Of native plugins, and of prompts. */
  render?(call: CommandCall): Promise<RenderedCommand | undefined>
}

interface RenderedCommand {
  readonly parts: readonly CommandPart[]
  /** Put before the conversation for this prompt alone. */
  readonly system?: string
}

/** A command that is run, with what was written behind its name. */
interface CommandCall {
  readonly directory: string
  readonly name: string
  readonly template: string
  readonly written: string
}

export type CommandPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mime: string; readonly url: string; readonly filename: string }
export type SkillService = Service<(request: ServiceRequest) => Promise<readonly PluginSkill[]>>
export type ContextService = Service<(request: ServiceRequest) => Promise<readonly SystemContextSection[]>>
export type PromptService = Service<(request: PromptRequest, signal?: AbortSignal) => Promise<RenderedPrompt>>
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

/** What travels over a socket of a native plugin: bytes stay bytes. */
export interface SocketFrame {
  readonly kind: 'text' | 'binary'
  /** Of a text frame: UTF-8, whole characters. Nobody changes it any more. */
  readonly data: Uint8Array
}

/** One open socket of a native plugin that has much to say, seen from the plugin's side. */
export interface FrameSocket {
  /** Frames for the client, sent together; the next are asked for once the peer has taken these. Ends when the plugin is done, throws when it failed. */
  readonly frames: AsyncIterable<readonly SocketFrame[]>
  /** A frame of the client; while what it answers is pending, the client is read no further. Throws as `PluginSocket.receive`. */
  take(frame: SocketFrame): Promise<void> | undefined
  /** The client is gone. Idempotent. */
  close(): void
}

/** A socket an operation opened, and as whom: what stands for a credential may say who that is. */
interface OpenedSocket {
  readonly caller: Caller
  readonly socket: FrameSocket
}

/** Opens the socket of an operation before its upgrade is answered; what it throws is the answer instead. */
export type SocketOpening = (call: OperationCall) => Promise<OpenedSocket>

/**
 * An operation that becomes a socket by a ticket. Called once for each ticket that arrives, before its request is looked at:
 * from then on the ticket is used, whatever becomes of the request. Throws nothing.
 */
export type SocketOperation = (ticket: string) => SocketOpening

export interface SocketRouteContribution {
  readonly descriptor: RouteDescriptor
  readonly priority: number
  /** Called before the upgrade; a rejection refuses the socket. */
  open(request: RouteRequest, signal: AbortSignal): Promise<PluginSocket>
}

export interface ExtraContributions {
  /** Operations of the HTTP contract, by operation id; native plugins only. */
  readonly operations?: Readonly<Record<string, Operation>>
  /** Operations of the HTTP contract that become sockets, by operation id; native plugins only. */
  readonly sockets?: Readonly<Record<string, SocketOperation>>
  /**
   * Resolves once `Contributions.within` is as it should be for a step of a session; bounded, never rejects. `run` is the one whose rules hold
   * for what would start, `sessionId` as `within` has it. Native plugins only.
   */
  prepare?(directory: string, signal: AbortSignal, run?: InRun, sessionId?: string): Promise<void>
  /** Why the capability of the plugin cannot be had on this machine, if so; native plugins only. */
  unavailable?(): Promise<string | undefined>
  readonly hooks?: Readonly<Record<string, Hook>>
  /** Tools whose results its hook `tool.after` is given; without, those of all. Native plugins only. */
  readonly hookTools?: readonly string[]
  /** What answers of the hooks depend on besides what they are given, as a text that changes with it; never rejects. */
  readonly hookState?: () => Promise<string>
  readonly events?: EventsContribution
  readonly agents?: readonly AgentService[]
  readonly commands?: readonly CommandService[]
  readonly skills?: readonly SkillService[]
  readonly systemContext?: readonly ContextService[]
  /** What models are told of one session, as of each step, behind what is told of its workspace; cheap, throws nothing. Native plugins only. */
  sessionContext?(session: Session): string | undefined
  readonly prompts?: readonly PromptService[]
  readonly config?: readonly ConfigService[]
  readonly routes?: readonly RouteContribution[]
  readonly websocketRoutes?: readonly SocketRouteContribution[]
  readonly messageParts?: readonly PartDeclaration[]
  readonly mcp?: readonly McpDeclaration[]
  /** What it declares that nothing takes, by name. */
  readonly unused?: readonly string[]
}
