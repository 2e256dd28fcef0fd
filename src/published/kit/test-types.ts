/** The in-memory host for tests of plugins. Part of the declarations of `svc/plugin`: types only. */
import type { PluginEvent, RouteRequest } from '../../protocol/plugin/plugin-requests.js'
import type { Owner } from './host-types.js'
import type { Plugin } from './plugin-types.js'
import type { RouteResponse, WsMessage } from './route-types.js'

interface TestHostOptions extends Partial<Owner> {
  readonly directory?: string
  /** Handed to `initialize`; `{}` when absent. */
  readonly config?: unknown
  /** Answers to requests of the plugin, by method (`host.config.get`, …). A method without one is refused as not available. */
  readonly answers?: Readonly<Record<string, HostAnswer>>
}

/** The result of one request; bytes may be a `Uint8Array`, a file may be text. A rejection is sent as the error. */
type HostAnswer = (params: Readonly<Record<string, unknown>>) => unknown

/** A request the plugin made of the host. */
export interface HostRequest {
  readonly method: string
  readonly params: unknown
}

export interface TestCallOptions {
  /** Sends `$/cancel` when it aborts, and rejects. */
  readonly signal?: AbortSignal
}

interface TestToolOptions extends TestCallOptions {
  readonly directory?: string
  readonly sessionId?: string
  readonly messageId?: string
  readonly callId?: string
}

interface TestSocket {
  /** What the plugin sends; ends when the plugin is done, throws when it failed. */
  readonly outbound: AsyncIterable<WsMessage>
  /** Resolves when the plugin has dealt with it. */
  send(message: WsMessage): Promise<void>
  close(): Promise<void>
}

/** A host without a server: it talks to the plugin as svc does, frame by frame, inside this process. */
interface TestHost {
  /** What the plugin offered in reply to `initialize`. */
  readonly offered: Readonly<Record<string, unknown>>
  /** What the plugin asked of the host so far, in order. */
  readonly requests: readonly HostRequest[]
  /** What the plugin wrote to standard error through the library. */
  readonly notes: readonly string[]
  /** What its tools said of how far they are. */
  readonly progress: readonly unknown[]
  /** Replaces the answer to one method. */
  answer(method: string, answer: HostAnswer): void
  /** Calls a tool; rejects with what it threw. */
  callTool(
    id: string,
    input?: unknown,
    options?: TestToolOptions,
  ): Promise<{ output: string; title?: string; metadata?: unknown; attachments?: unknown; parts?: unknown }>
  /** The value after the hook; rejects with what the handler threw. */
  runHook(name: string, context: unknown, value: unknown): Promise<unknown>
  /** Delivers an event; resolves when the handler is done with it, whatever it threw. */
  sendEvent(event: Partial<PluginEvent> & Pick<PluginEvent, 'type'>): Promise<void>
  /** Any method with a reply, such as `agent.list` or `provider.metadata`. */
  call(method: string, params: Readonly<Record<string, unknown>>, options?: TestCallOptions): Promise<unknown>
  /** Calls a service, such as `systemContext` `my-notes`; parts of the request that are missing are filled in. */
  callService(kind: TestServiceKind, id: string, request?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Everything a provider streams; leaving the loop cancels. */
  streamProvider(id: string, request: Readonly<Record<string, unknown>>): AsyncIterable<unknown>
  /** The answer as the host has it: `headers` is `{}`, and `body` null, where the handler gives none. */
  callRoute(id: string, request?: Partial<RouteRequest>): Promise<Required<RouteResponse>>
  openSocket(id: string, request?: Partial<RouteRequest>): Promise<TestSocket>
  /** Ends the plugin: aborts what is under way. Idempotent. */
  shutdown(): Promise<void>
}

export type TestServiceKind = 'agents' | 'commands' | 'skills' | 'systemContext' | 'prompts' | 'config'

/** Answers its argument; gives an editor the type to complete against. */
export type DefinePlugin = <P extends Plugin>(plugin: P) => P

/** Runs a plugin on standard input and output until the host ends it; then the process exits. */
export type RunPlugin = (plugin: Plugin) => Promise<void>

/** Starts a plugin in this process under a host made for tests; rejects when the plugin does not initialise. */
export type CreateTestHost = (plugin: Plugin, options?: TestHostOptions) => Promise<TestHost>
