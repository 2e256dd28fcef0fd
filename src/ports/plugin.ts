/**
 * The interface of a native plugin: what it contributes, and the host it is handed. Built-ins use exactly
 * this and nothing else (laws §7).
 */
import type * as z from 'zod'
import type { PermissionAction } from '../protocol/interaction/interaction.js'
import type { FilePart, UserModel } from '../protocol/message/message.js'
import type { TraceContext } from '../protocol/trace-context.js'
import type { Agent, Skill } from '../protocol/resource/resource.js'
import type { PluginRowOwner } from '../store/plugin-rows.js'
import type { MediaRequest } from '../protocol/plugin/plugin-requests.js'
import type { Todo } from '../protocol/session/session.js'
import type { ActorRegistry } from '../kernel/roots.js'
import type { Effects } from './effects.js'
import type { Configs } from './facades.js'
import type { Checkouts, Git, NamedPrograms } from './git.js'
import type { ProviderAdapter, SessionWorker } from './provider-adapter.js'
import type { CommandService, ExtraContributions } from './contributions.js'
import type { CommandSandbox, FileStateDoor, MediaDoor, ModelDoor, PluginRows, SearchDoor, SessionArtifacts, SessionDoor } from './doors.js'
import type { ProgramDoor } from './programs.js'

/** One access a tool call needs before it may run; all of them must be allowed. */
export interface PermissionNeed {
  /** Permission group: `read`, `edit`, `bash`, `external_directory`, … */
  readonly permission: string
  /** Targets judged against the rules, each on its own. */
  readonly patterns: readonly string[]
  /** A wider pattern to offer beside one that is asked; remembered only when the answer names it. */
  readonly widen?: (pattern: string) => string | undefined
  /** One line for the person who is asked. */
  readonly title: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** An explicit answer is needed whatever the allow rules say (threat-model G1, G3): unparsable or protected. */
  readonly explicit?: string
  /** Nobody need be asked: what a rule would ask about does no harm here. A deny stays. */
  readonly harmless?: boolean
}

export interface ToolContext {
  readonly sessionId: string
  readonly messageId: string
  readonly callId: string
  readonly agent: string
  /** Canonical directory of the session. */
  readonly directory: string
  readonly signal: AbortSignal
  /** Tools the prompt of the run leaves out. */
  readonly refused?: readonly string[]
  /** Nobody will answer what the run asks. */
  readonly unattended?: boolean
  /** Of the session of a stranger: nothing beyond these places is touched, and no program started but in the sandbox. */
  readonly bounds?: Bounds
  /** Of which trace the call is part: handed on to whoever is asked. Absent where nobody traces. */
  readonly trace?: TraceContext
  /** Shows progress while running: merged into part-level metadata, transient. */
  progress(metadata: Readonly<Record<string, unknown>>): void
  /** What rules and answers say of each of these targets, in order; nobody is asked. */
  decisions(permission: string, patterns: readonly string[]): readonly PermissionAction[]
}

/** Canonical places; `isConfined`: commands run in the sandbox or not at all. */
interface Bounds {
  readonly roots: readonly string[]
  readonly isConfined: boolean
}

export interface ToolResult {
  readonly title: string
  readonly output: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly attachments?: readonly Pick<FilePart, 'mime' | 'url' | 'filename'>[]
  /** Parts of a kind of their own that follow the call on its message; `text` is what those are shown who do not know the kind. No model is. */
  readonly parts?: readonly { readonly kind: string; readonly schemaVersion: string; readonly data: unknown; readonly text: string }[]
}

/** Thrown by a tool for a failure the model should see; `metadata` is kept on the part. */
export class ToolError extends Error {
  readonly metadata: Readonly<Record<string, unknown>> | undefined

  constructor(message: string, metadata?: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = 'ToolError'
    this.metadata = metadata
  }
}

export interface ToolContribution<Input = unknown> {
  readonly id: string
  readonly description: string
  /** Closed schema; input is parsed by it before `needs` and `invoke`. */
  readonly input: z.ZodType<Input>
  /** The schema of calls a prompt came with, where those say what no model may. */
  readonly ofPrompt?: z.ZodType<Input>
  /** JSON Schema the model is shown instead of one made from `input`. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** JSON Schema of the result, for whoever shows tools. */
  readonly outputSchema?: unknown
  /** Group that decides whether the tool is offered at all (sessions-events §8.6). */
  readonly permission: string
  /** False for sessions whose models have no use for it: they are not offered it. Cheap, throws nothing; native plugins only. */
  isFor?(sessionId: string): boolean
  /** Notes in `metadata` what it changes on disk (`ChangeNotes`), for undo; nobody else's notes are believed. */
  readonly notesChanges?: true
  /** What must be allowed before `invoke`; may read files to canonicalise, never changes anything. */
  needs(input: Input, context: ToolContext): Promise<readonly PermissionNeed[]>
  /** Does the work; rejects with `ToolError` for failures the model should see. Must settle soon after `context.signal` aborts. */
  invoke(input: Input, context: ToolContext): Promise<ToolResult>
}

/** Erases the input type of a tool so that tools of different inputs fit one list. */
export function defineTool<Input>(tool: ToolContribution<Input>): ToolContribution {
  return tool
}

export interface ProviderContribution {
  /** Adapter package name(s) of `agent.provider.<id>.npm` this serves, or a provider id it brings itself. */
  readonly npm: readonly string[]
  /** API roots of adapter packages that know theirs, used when the configuration has no `baseURL`. */
  readonly endpoints?: Readonly<Record<string, string>>
  /** A provider that exists without being configured; its id is also in `npm`. */
  readonly builtin?: BuiltinProvider
  /**
   * What the provider says of a model that `builtin` lists without limits: `{ limit: { context, output, input? } | null, … }`
   * (plugin-protocol §7.2). Asked once; rejects or never settles when it says nothing.
   */
  metadata?(model: UserModel): Promise<unknown>
  /** Makes a picture or a film; the bytes are checked and of a bounded size (plugin-protocol §7.2). */
  media?(request: Omit<MediaRequest, 'serviceId'>, signal?: AbortSignal): Promise<Media>
  /** Its adapters tell tokens from keys (`ProviderSettings.hasToken`); others are handed keys alone. */
  readonly takesTokens?: true
  /** How somebody signs in at it, in its own way, and what of that is kept (plugin-protocol §7.2). */
  readonly administration?: ProviderAdministration
  /** It answers sessions that were made for it, under this id: it stands in no list, and no configuration makes it. */
  readonly worker?: { readonly id: string; create(modelId: string): SessionWorker<ToolContribution> }
  /** Makes the adapter of one configured provider; cheap, called once per provider configuration. */
  create(settings: ProviderSettings): ProviderAdapter
}

interface Media {
  readonly mime: string
  readonly filename: string
  readonly dataBase64: string
  readonly revisedPrompt?: string | null | undefined
}

export interface ProviderAdministration {
  /** Names who may be handed what its sign-ins brought: stored with the credential in the place of an address, so that nobody else is. */
  readonly keeper: string
  /** Asks it to do something: `authMethods`, `oAuthAuthorize`, `oAuthCallback`. Answers the body; rejects with what it said. */
  ask(action: string, body: unknown, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<unknown>
  /** The credential it has by now, an `AuthInfo`, or null. */
  credential(signal?: AbortSignal): Promise<unknown>
}

/** A keyless provider a plugin brings with it; models are offered in this order, the first is its default. */
interface BuiltinProvider {
  readonly id: string
  readonly name: string
  readonly models: readonly {
    readonly id: string
    readonly name: string
    readonly limit: { readonly context: number; readonly output: number }
    readonly reasoning: boolean
  }[]
}

export interface ProviderSettings {
  readonly providerId: string
  /** Adapter package name the provider is configured with, for the habits of its vendor. */
  readonly npm: string
  readonly baseURL: string | undefined
  /** Read at request time; undefined = no key. Never logged. */
  apiKey(): string | undefined
  /** What `apiKey` answers is a token of OAuth, which is never sent as a key. */
  hasToken?(): boolean
  readonly headers: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, unknown>>
  readonly compatibility: { readonly streamUsage: boolean; readonly reasoningEffort: boolean }
}

export interface OffersWithin {
  readonly tools: readonly ToolContribution[]
  readonly commands: readonly CommandService[]
}

export interface Contributions extends ExtraContributions {
  readonly tools?: readonly ToolContribution[]
  /**
   * What it contributes besides in one directory, or for a session that has plugins of its own there, as of now; asked when a view is made, and again after `NativeHost.offersChanged`.
   * The id of a tool that others have is theirs. Cheap; native plugins only.
   */
  within?(directory: string, sessionId?: string): OffersWithin
  readonly providers?: readonly ProviderContribution[]
}

/** Managed files that hold the whole of a cut tool output (sessions-events §10.3). */
export interface ManagedOutputs {
  /** Stores at most `LIMITS.tools.artifactBytes`; answers its id and absolute path. */
  store(
    text: string,
    info: { readonly tool: string; readonly title: string; readonly sessionId: string },
  ): Promise<{ id: string; path: string }>
}

interface Questions {
  /** Asks the user; resolves with one answer list per question; rejects with `ToolError` when declined or withdrawn. */
  ask(context: ToolContext, questions: readonly unknown[]): Promise<readonly (readonly string[])[]>
}

interface Todos {
  /** Replaces the whole list, durably, with its `todo.updated` event. */
  replace(sessionId: string, todos: readonly Todo[]): void
}

/** Plan mode of a session (sessions-events §10.6). */
interface PlanMode {
  /** Durably, with its `session.updated` event; false = it was on, or off, already. */
  set(sessionId: string, isOn: boolean): boolean
}

/** What is read for a session besides its files: instruction files next to a path (sessions-events §12.4). */
export interface Instructions {
  /** Instruction files between `directory` and `file`, each at most once per session. */
  nested(sessionId: string, directory: string, file: string): Promise<readonly { path: string; text: string }[]>
}

/** Files nobody changes without an explicit answer (threat-model G3). */
export interface ProtectedFiles {
  /** Why each canonical path is protected, or undefined; all are written by one call. */
  reasons(canonicalPaths: readonly string[]): Promise<readonly (string | undefined)[]>
}

/** The command whose environment is asked for. */
interface ShellContext {
  readonly cwd: string
  readonly sessionId: string
  readonly callId: string
  readonly signal: AbortSignal
}

export interface NativeHost {
  readonly effects: Pick<
    Effects,
    | 'clock'
    | 'ids'
    | 'random'
    | 'files'
    | 'processes'
    | 'terminals'
    | 'fetch'
    | 'post'
    | 'network'
    | 'childEnv'
    | 'paths'
    | 'platform'
    | 'log'
    | 'sha256'
  >
  readonly outputs: ManagedOutputs
  readonly questions: Questions
  readonly todos: Todos
  readonly planMode: PlanMode
  readonly instructions: Instructions
  readonly protectedFiles: ProtectedFiles
  /**
   * Variables that plugins add to the environment of a command (hook `shell.env`); rejects when a hook fails. Names are
   * checked: what would run something before the command is refused, as is a `PATH` that is not absolute.
   */
  shellEnvironment(context: ShellContext): Promise<Readonly<Record<string, string>>>
  readonly sandbox: CommandSandbox
  /** Programs that load code of a workspace. */
  readonly programs: ProgramDoor
  readonly fileStates: FileStateDoor
  readonly rows: PluginRows
  readonly artifacts: SessionArtifacts
  readonly sessions: SessionDoor
  readonly search: SearchDoor
  readonly models: ModelDoor
  readonly media: MediaDoor
  /** Whether files came with a checkout. */
  readonly checkouts: Checkouts
  /** Git, as svc starts it. */
  readonly git: Git
  /** What repositories name for git to start. */
  readonly namedPrograms: NamedPrograms
  /** The effective configuration of a directory, e.g. `shell`. */
  config(directory: string): Promise<Readonly<Record<string, unknown>>>
  /** The agents a directory offers, or one session of it, the default one first. */
  agents(directory: string, sessionId?: string): Promise<readonly Agent[]>
  /** Whether an agent goes by a name there, whichever of its two. */
  hasAgent(directory: string, name: string): Promise<boolean>
  /** The skills a directory offers, or one session of it; one without a `path` has no text. */
  skills(directory: string, sessionId?: string): Promise<readonly Skill[]>
  /** Why the plugin is switched off for a directory, though it runs for others; undefined = it is not. */
  switchedOff(directory: string): Promise<string | undefined>
  /** Aborts when the service begins to stop, before runs are ended. */
  readonly stopping: AbortSignal
  /** What the plugin contributes `within` directories has changed. */
  offersChanged(): void
  /** Where this server is reached; undefined before it listens. */
  serverUrl(): string | undefined
  /** Entries of maps of programs, as files say them. */
  readonly configEntries: Pick<Configs, 'brought' | 'definer' | 'switchEntry'>
  /** As `config`, without what a workspace adds. */
  installationConfig(): Promise<Readonly<Record<string, unknown>>>
  /** Lists root actors of the plugin for the inspector; asked before an actor is started. It leaves the list when it ends. */
  readonly actors: ActorRegistry
}

export interface NativePlugin {
  /** `dev.svc.<name>` for built-ins. */
  readonly id: string
  readonly name: string
  /** What it adds to `GET /v2/capabilities`, whether it is on or off. */
  readonly capability?: { readonly id: string; readonly apiPrefix: string }
  /** Capabilities it cannot be without. */
  readonly requires?: readonly string[]
  /** First words of the events it tells. */
  readonly eventNamespaces?: readonly string[]
  /**
   * Kinds of its rows that are of a session, and where its id stands: they go in the commit in which the session goes, whether the plugin is on
   * or not.
   */
  readonly sessionRows?: Readonly<Record<string, PluginRowOwner>>
  /** Called once for each generation, after the one before has ended; what it throws is the reason why there is none. */
  start(host: NativeHost): Contributions
  /** Ends what the plugin started; called once when its generation is retired. */
  stop?(): Promise<void>
}
