/** What one session or one request can call: the published contributions of every plugin that serves its scope (laws §10). */
import type { Session } from '../protocol/session/session.js'
import type { PluginEvent } from '../protocol/plugin/plugin-requests.js'
import type { ToolDefinition } from './provider-adapter.js'
import type {
  AgentService,
  CommandService,
  ConfigService,
  ContextService,
  EventsContribution,
  Hook,
  PromptService,
  RouteContribution,
  SkillService,
  SocketOperation,
  SocketRouteContribution,
} from './contributions.js'
import type { Operation } from './doors.js'
import type { Contributions, ProviderContribution, ToolContribution } from './plugin.js'
import type { InRun } from './programs.js'

/** Where a publication is seen: everywhere, in one workspace, or in one session. */
export type Reach =
  | { readonly type: 'everywhere' }
  | { readonly type: 'workspace'; readonly directory: string }
  | { readonly type: 'session'; readonly directory: string; readonly sessionId: string }

/** Whose contribution it is, and the door to call it through. */
export interface Stamp {
  readonly pluginId: string
  readonly generation: number
  readonly reach: Reach
  /**
   * Runs work under a lease of the generation: it is not retired before the work settles, unless it has to be.
   * Throws `plugin.generation_closed` when the generation takes no new work.
   */
  use<T>(work: () => Promise<T>): Promise<T>
  /** Still takes new work. */
  readonly open: boolean
}

export interface RegisteredTool extends Stamp {
  readonly contribution: ToolContribution
  /** Id, description and JSON Schema, made once. */
  readonly definition: ToolDefinition
}

export interface RegisteredHook extends Stamp {
  /** Under a lease; a failure is noted against the plugin, the next success clears it (plugin-protocol §3.2). */
  readonly run: Hook
  /** Tools it is for, where a tool is what it is about; undefined = all. */
  readonly tools?: readonly string[]
  /** What its answers depend on besides what it is given, as a text that changes with it. */
  state?(): Promise<string>
  /** Notes a failure that `run` could not see: its answer was of no use to the host. Cleared as a failure of `run` is. */
  blame(reason: string): void
}

export interface Registered<Contribution> extends Stamp {
  readonly contribution: Contribution
}

export interface RegistryView {
  /** Number of the latest publication that this view contains. */
  readonly generation: number
  /** By plugin order: built-ins first, then by plugin id. */
  readonly tools: readonly RegisteredTool[]
  tool(id: string): RegisteredTool | undefined
  /** In chain order; empty for names nobody contributes (no cost). */
  hooks(name: string): readonly RegisteredHook[]
  /** Of the session that it is for and those above, the nearest with something of its own; whoever has none sees what the directory does. */
  readonly sessionId?: string | undefined
  readonly providers: readonly ProviderContribution[]
  /** Each sorted: higher priority first, ties by id. */
  readonly agents: readonly Registered<AgentService>[]
  readonly commands: readonly Registered<CommandService>[]
  readonly skills: readonly Registered<SkillService>[]
  /** See `ExtraContributions.prepare`. */
  readonly preparations: readonly NonNullable<Contributions['prepare']>[]
  readonly systemContext: readonly Registered<ContextService>[]
  readonly prompts: readonly Registered<PromptService>[]
  /** See `ExtraContributions.sessionContext`. */
  readonly sessionContext: readonly ((session: Session) => string | undefined)[]
  readonly config: readonly Registered<ConfigService>[]
  readonly routes: readonly Registered<RouteContribution>[]
  readonly sockets: readonly Registered<SocketRouteContribution>[]
  readonly operations: ReadonlyMap<string, Registered<Operation>>
  readonly socketOperations: ReadonlyMap<string, Registered<SocketOperation>>
  readonly plugins: readonly PublishedPlugin[]
}

export interface PublishedPlugin {
  readonly pluginId: string
  readonly name: string
  readonly version: string
  readonly internal: boolean
  readonly generation: number
  readonly reach: Reach
  readonly contributions: Contributions
}

/** Who hears committed events, and of which place. */
export interface Subscriber {
  readonly pluginId: string
  readonly events: EventsContribution
  readonly reach: Reach
}

/** The plugins of workspaces, as sessions and requests use them. */
export interface WorkspacePlugins {
  /**
   * The view after plugins that never ran in this scope before have started or failed, or as soon as it `isEnough`; asks
   * for a look at the files when the last is old. Who says what `isEnough` only visits the session, which may be asleep:
   * what runs for it alone is kept for `idleTeardown`; everybody else has woken it and tells of its end.
   */
  ready(directory: string, sessionId?: string, isEnough?: (view: RegistryView) => boolean): RegistryView | Promise<RegistryView>
  /** The view as it is now. Cheap: the same object until something is published. */
  current(directory: string, sessionId?: string): RegistryView
  /** As `current`, once plugins that offer what they find in a directory have found it. For each step of a session. */
  prepared(
    directory: string,
    sessionId: string | undefined,
    stopping: { readonly signal: AbortSignal },
    run?: InRun,
  ): RegistryView | Promise<RegistryView>
  /** Why a plugin is switched off for a directory; undefined = it is not. */
  switchedOff(directory: string, pluginId: string): Promise<string | undefined>
  /** A session has ended: what runs for it alone is retired. */
  sessionEnded(sessionId: string): void
  /** Whether any published plugin subscribes to events at all. Cheap: asked before each event. */
  wantsEvents(): boolean
  /** A committed event, to whoever may see it. */
  deliver(event: PluginEvent, of: { readonly directory: string | undefined; readonly sessionId: string | undefined }): void
}
