/**
 * The typed facades that HTTP and the command line see of a running service, and nothing else of it.
 * Every method takes the admitted caller where ownership matters; admission (directory, session access)
 * has happened before, by the route contract.
 */
import type { ExecutionPolicy } from '../protocol/session/execution-policy.js'
import type { Caller, Owned } from '../protocol/caller.js'
import type { SessionCommandRequest, SessionShellRequest } from '../protocol/resource/command.js'
import type { ConfigDefaults, ConfigDocument, ConfigValidation } from '../protocol/resource/config.js'
import type { InspectedLines, InspectedMachine, InspectorTrace, InspectorTree } from '../protocol/system/inspector.js'
import type {
  Message,
  ModelRef,
  Part,
  PromptRequest,
  SessionQueueInfo,
  SessionQueueMutation,
  SessionQueueRelease,
  AbortRequest,
} from '../protocol/message/message.js'
import type { AuthInfo, ProviderConnectionCreateRequest, ProviderConnectionSummary } from '../protocol/provider/connection.js'
import type { ConfigProvidersResult, ProviderListResult, ProviderModel } from '../protocol/provider/provider.js'
import type { Agent, Command, Skill, Tool } from '../protocol/resource/resource.js'
import type {
  CreateSessionRequest,
  ExecutionSummary,
  Session,
  SessionPage,
  SessionRuntimeSnapshot,
  SessionStatus,
  Todo,
  UpdateSessionRequest,
} from '../protocol/session/session.js'
import type { ExportSessionsRequest } from '../protocol/session/bundle.js'
import type { ClaimSessionControlRequest, ForkSessionRequest, SessionControl, SessionParticipant } from '../protocol/session/sharing.js'
import type { RevertRequest, SessionUndoTree } from '../protocol/session/undo.js'
import type { ApiMeta, AuditEntry, Capability, DirectoryListing, HealthResponse, Identity, RuntimeInfo } from '../protocol/system/system.js'
import type { PermissionRule } from '../protocol/interaction/interaction.js'
import type { Interactions } from './interactions.js'
import type { Artifacts } from './artifacts.js'
import type { Plugins } from './plugins.js'
import type { Traces } from './telemetry.js'
import type { Management } from './managed.js'
import type { SignIns } from './sign-ins.js'
import type { ProviderAdapter, SessionWorker } from './provider-adapter.js'

/** JSON that is already text: sent as it is, never parsed and serialised again. */
export interface RawJson {
  readonly rawJson: string
  /** The same in pieces, where it is long: it is sent as it is made, in several turns of the event loop. */
  readonly pieces?: () => AsyncIterable<string>
}

export interface SessionListQuery {
  readonly directory?: string | undefined
  readonly path?: string | undefined
  readonly roots?: string | undefined
  readonly archived?: string | undefined
  readonly start?: number | undefined
  readonly search?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface Sessions {
  create(caller: Caller, directory: string, request: CreateSessionRequest): Promise<Session>
  list(caller: Caller, query: SessionListQuery): RawJson
  /** Throws `resource.not_found`. */
  get(id: string): Session
  /** A directory may be relative to that of the session; throws `request.invalid_directory`, `auth.directory_forbidden`. */
  update(caller: Caller, id: string, request: UpdateSessionRequest): Promise<Session>
  /** Throws `resource.conflict` while somebody else controls one of its descendants. */
  /** `keepsForks`: forks in its family, which must rest, become roots with all that came from them. */
  delete(caller: Caller, id: string, options?: { readonly keepsForks?: boolean }): Promise<true>
  children(id: string): SessionPage
  status(caller: Caller): Record<string, SessionStatus>
  runtime(id: string): SessionRuntimeSnapshot
  todos(id: string): Todo[]
  pin(id: string, pinned: boolean | undefined): Session
  /** A copy as a child of the session, held to the quotas of the caller, or else of the session; throws `resource.not_found` for an unknown message. */
  fork(id: string, request: ForkSessionRequest, caller?: Caller): Promise<Session>
  /** Directories the caller may use that complete a path as `update` takes it. */
  directoryOptions(
    caller: Caller,
    id: string,
    query: { readonly query?: string | undefined; readonly limit?: number | undefined },
  ): Promise<string[]>
  participants(id: string): SessionParticipant[]
  control(id: string): SessionControl | null
  /** Throws `resource.conflict` while somebody else controls the session, or one that delegated to it. */
  expectControl(caller: Caller, id: string): void
  /** Throws `resource.conflict` while somebody else holds it, or at another revision. */
  claimControl(caller: Caller, id: string, request: ClaimSessionControlRequest): SessionControl
  releaseControl(caller: Caller, id: string, expectedRevision: number | undefined): boolean
  /** Resolves once the prompt is durably admitted (sessions-events §4.3–4.5). */
  submitPrompt(caller: Caller, id: string, request: PromptRequest, mode: 'prompt' | 'prompt-async'): Promise<void>
  /** Runs a command by name; resolves when the session is settled, rejects when `signal` aborts. */
  runCommand(caller: Caller, id: string, request: SessionCommandRequest, signal: AbortSignal): Promise<Message>
  /** Calls the shell tool for the user; resolves as `runCommand` does. */
  runShell(caller: Caller, id: string, request: SessionShellRequest, signal: AbortSignal): Promise<Message>
  /** The JSON of every session of a workspace that the caller may use, or of one of them, in pieces. */
  export(caller: Caller, request: ExportSessionsRequest): AsyncIterable<string>
  /** Reads one bundle as it arrives; answers the id of the new session. `admit`: the canonical directory, which the caller may use. */
  import(caller: Caller, chunks: AsyncIterable<Uint8Array>, admit: (directory: string) => Promise<string>): Promise<string>
  /** `queue`: what becomes of prompts that wait, before anything else can run (choice 41). */
  abort(id: string, how?: AbortRequest): Promise<boolean>
  /** Compacts the conversation of an idle session; resolves when that is done. Throws `resource.conflict` when the session is at work or the compaction is aborted. */
  compact(id: string, signal: AbortSignal): Promise<void>
  /** Resolves when the session is settled; rejects when `signal` aborts. */
  wait(id: string, signal: AbortSignal): Promise<void>
  /** Files and messages back to a message; without one to the last user message that is not undone. Throws `resource.conflict` with nothing changed. */
  undo(id: string, request: RevertRequest): Promise<Session>
  /** Forward again, as far as a message; without one by one turn. */
  redo(id: string, request: RevertRequest): Promise<Session>
  revert(id: string, request: RevertRequest): Promise<Session>
  unrevert(id: string): Promise<Session>
  undoTree(id: string): Promise<SessionUndoTree>
  context(id: string): RawJson
  messages(
    id: string,
    query: { limit?: number | undefined; order?: 'asc' | 'desc' | undefined; slim?: boolean | undefined; cursor?: string | undefined },
  ): RawJson
  message(id: string, messageId: string): Message
  deleteMessage(id: string, messageId: string): true
  updatePart(id: string, messageId: string, partId: string, part: Part): Part
  deletePart(id: string, messageId: string, partId: string): true
  queue(id: string): SessionQueueInfo
  clearQueue(id: string): SessionQueueMutation
  popQueue(id: string, messageId?: string): SessionQueueMutation
  /** Gives the oldest held prompt its turn, or that of one message (choice 35). */
  releaseQueue(caller: Caller, id: string, messageId: string | undefined): SessionQueueRelease
  /** Whose a session is, for admission; undefined when unknown. */
  owner(id: string): Owned | undefined
}

/** Of a frame: `growing`: somebody waits to see it grow, `whole`: to have it, and it ends what he waits for. */
export type Urgency = 'growing' | 'whole'

/** Where one subscriber's frames go. Frames are whole SSE records as bytes. */
export interface FrameSink {
  /** Writes a frame; called synchronously, in order. Frames of one tick may be joined by the sink, unless somebody waits for this one. */
  write(frame: Uint8Array, urgency?: Urgency): void
  /** Bytes written but not yet taken by the peer; the subscription is closed as lagged when it stays over the limit. */
  pending(): number
  /** Bytes of the log that one page may have: less where many readers share what their caller may keep waiting. */
  room(): number
  /** Resolves when `pending()` has dropped (used between replay pages). Resolves at once when nothing is pending. */
  drained(): Promise<void>
  /** Ends the stream: finished, stopping or lagged. */
  end(): void
}

export interface EventSubscription {
  /** The reader has left, or does not take what it is sent. */
  close(how?: 'left' | 'stalled'): void
  /** Its cursor was of a store before this one: it begins with all that this one keeps, which is what follows this number. */
  readonly trimmed?: number
}

export interface EventQuery {
  /** Explicit cursor (`since` or `Last-Event-ID`); undefined = none. */
  readonly after: number | undefined
  readonly tail: boolean
  /** Replay page size. */
  readonly limit: number
  readonly sessionId: string | undefined
}

export interface Events {
  /** Throws `events.cursor_expired` when the cursor is older than what is kept, `request.invalid` when it was never handed out. */
  subscribe(caller: Caller, query: EventQuery, sink: FrameSink): EventSubscription
  subscribeCatalog(caller: Caller, directory: string, sink: FrameSink): EventSubscription
  subscribeActivity(caller: Caller, sink: FrameSink): EventSubscription
  activity(caller: Caller): ExecutionSummary[]
}

/** An agent with what a run needs besides the wire record. */
export interface AgentView {
  readonly record: Agent
  /** Layers 1–3 of sessions-events §8.4 from built-in and installation sources, flattened and in evaluation order. */
  readonly rules: readonly PermissionRule[]
  /** Rules of workspace layers, evaluated apart: a match can only make the answer of `rules` stricter (threat-model W3). */
  readonly narrowing: readonly PermissionRule[]
  /**
   * Present where a workspace had a say in who answers: the rules of the agent that answers by default where no workspace is heard,
   * which hold beside `rules` (threat-model W3).
   */
  readonly ceiling?: readonly PermissionRule[]
}

export interface InstructionFile {
  readonly path: string
  readonly text: string
}

/** A command that can be run. */
export interface UsableCommand extends Command {
  readonly template: string
}

export interface FoundCommand extends UsableCommand {
  /** Its template is of the installation: not of a workspace, not of a plugin. */
  readonly isOwn: boolean
}

/** Of a directory, or of one session of it, which has what plugins bring for it, or for a session above it, besides. */
export interface Resources {
  agents(directory: string, sessionId?: string): Promise<Agent[]>
  /** By key or display name; throws `resource.not_found`. */
  agent(directory: string, name: string, sessionId?: string): Promise<AgentView>
  /** The default agent of a directory. */
  defaultAgent(directory: string, sessionId?: string): Promise<AgentView>
  /** Those that can be run. */
  commands(directory: string, sessionId?: string): Promise<UsableCommand[]>
  /** One that can be run; throws `request.invalid` with those there are, `request.unprocessable` with the reason. */
  command(directory: string, name: string, sessionId?: string): Promise<FoundCommand>
  /** Ids of the plugins that agents or commands come from, by name; what is built in or configured alone is not there. */
  contributors(directory: string, kind: 'agent' | 'command'): Promise<ReadonlyMap<string, string>>
  /** Those with a file whose text can be used. */
  skills(directory: string, sessionId?: string): Promise<Skill[]>
  /** Global and project instruction files in order (sessions-events §12.3). */
  instructions(directory: string): Promise<readonly InstructionFile[]>
}

export interface Configs {
  /**
   * Effective document of a directory (flat form). The same object until something changes. `fresh` means every change that
   * was made before the call; without it, one of this very moment may be missing. A broken file keeps the last good document serving, unless there is none: `config.invalid`.
   */
  load(directory: string, options?: { readonly fresh?: boolean }): Promise<ConfigDocument>
  /** The same without credentials, for clients. */
  show(directory: string): Promise<ConfigDocument>
  /**
   * Applies a merge patch and answers what `show` does. What is shown without its credential and comes back as it was
   * shown is not changed. Rejects with the reason of `signal` when that aborts before its turn.
   */
  update(directory: string, patch: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ConfigDocument>
  validate(directory: string): Promise<ConfigValidation>
  /** Entries of a map of programs that files of the workspace define, and none of the installation; nobody has accepted them. */
  brought(directory: string, key: 'mcp'): Promise<Readonly<Record<string, unknown>>>
  /** Where an entry is defined last; undefined = nowhere. */
  definer(directory: string, key: 'mcp', name: string): Promise<EntryDefiner | undefined>
  /** Switches an entry on or off there. Throws `request.invalid` where that cannot be written, `resource.conflict` when another file decides. */
  switchEntry(directory: string, key: 'mcp', name: string, enabled: boolean): Promise<void>
}

export interface EntryDefiner {
  readonly scope: 'global' | 'workspace'
  /** Undefined: it is of no file. */
  readonly file: string | undefined
}

/** A model ready to be called. */
export interface ResolvedModel {
  readonly ref: ModelRef
  readonly model: ProviderModel
  readonly adapter: ProviderAdapter
  /** Answers the steps of sessions, where that is no model. */
  readonly worker?: SessionWorker
  /** Request options of provider, model and variant, merged. */
  readonly options: Readonly<Record<string, unknown>>
}

/** `sessionId`: with what plugins bring for that session, or for one above it, besides. */
export interface Providers {
  list(directory: string, sessionId?: string): Promise<ProviderListResult>
  configured(directory: string, sessionId?: string): Promise<ConfigProvidersResult>
  /**
   * The model a directory uses when nobody names one: config `model`, else the first usable one, else `svc/offline`. Here and below
   * `workspaceId` is what a session says of itself: connections of that workspace come first.
   */
  defaultModel(directory: string, workspaceId?: string, sessionId?: string): Promise<ModelRef>
  /** The model for titles and summaries, config `smallModel`; undefined when it is not set or cannot be used. */
  smallModel(directory: string, workspaceId?: string, sessionId?: string): Promise<ModelRef | undefined>
  /** What a caller names: throws as `resolve` does, for a variant that the model does not have as well. */
  check(directory: string, ref: ModelRef, workspaceId?: string, sessionId?: string): Promise<void>
  /**
   * The address the installation has for a provider, to which credentials stored for it go; `resource.not_found` for an unknown one,
   * `request.unprocessable` for one that no adapter serves, or whose adapter cannot use such a credential.
   */
  endpoint(providerId: string, type?: AuthInfo['type']): Promise<string | undefined>
  /**
   * Throws `request.invalid` with what is known instead when provider or model is unknown or unusable, `request.unprocessable` when the
   * connection it names is not there. A variant that the model does not have any more changes nothing.
   */
  resolve(directory: string, ref: ModelRef, workspaceId?: string, sessionId?: string): Promise<ResolvedModel>
  /** Whether more than the built-in model can be used; asks nobody. */
  hasUsable(): Promise<boolean>
  /** Providers of the installation that a credential can be stored for: whether they take one, whether that is a key, and whether it may be a token. */
  connectable(): Promise<
    readonly { readonly id: string; readonly hasKey: boolean; readonly isSecret: boolean; readonly takesTokens: boolean }[]
  >
}

/** Stored credentials; `workspaceId`: the directory they are kept for, undefined = for all. Changes throw `resource.conflict` when the file cannot be changed. */
export interface Connections {
  /** Of exactly this scope, oldest first. */
  list(providerId: string, workspaceId: string | undefined): Promise<ProviderConnectionSummary[]>
  create(providerId: string, workspaceId: string | undefined, request: ProviderConnectionCreateRequest): Promise<ProviderConnectionSummary>
  rename(
    providerId: string,
    workspaceId: string | undefined,
    request: { readonly connectionId: string; readonly label: string },
  ): Promise<ProviderConnectionSummary>
  /** Whether there was one. */
  remove(providerId: string, workspaceId: string | undefined, connectionId: string): Promise<boolean>
  setDefault(providerId: string, workspaceId: string | undefined, connectionId: string): Promise<ProviderConnectionSummary>
  /** Whether calls in the workspace find one. */
  has(providerId: string, workspaceId: string | undefined): Promise<boolean>
  /** Replaces the credential of the default connection, or makes that. */
  set(providerId: string, workspaceId: string | undefined, credential: AuthInfo): Promise<boolean>
  /** Removes the default connection; whether there was one. */
  unset(providerId: string, workspaceId: string | undefined): Promise<boolean>
}

export interface System {
  health(): Promise<HealthResponse>
  meta(): ApiMeta
  runtime(): RuntimeInfo
  hostedExecution(): Promise<ExecutionPolicy>
  identity(): Promise<Identity>
  capabilities(directory: string): Promise<Capability[]>
  directories(caller: Caller, path: string | undefined): Promise<DirectoryListing>
  tools(directory: string, sessionId?: string): Promise<Tool[]>
  audit(caller: Caller, limit: number): AuditEntry[]
  recordAudit(entry: { readonly caller: Caller; readonly method: string; readonly path: string; readonly status: number }): void
  defaults(directory: string): Promise<ConfigDefaults>
  /** Canonical directory; `request.invalid_directory` when missing or not a directory. `~` resolves, relative paths from `base` or the working directory. */
  canonicalDirectory(path: string, base?: string): Promise<string>
  /** Directories the caller may use that begin with what was typed, relative to `base`. */
  completeDirectory(caller: Caller, text: string, base: string, limit: number): Promise<string[]>
  /** Working directory of the server, canonical: the directory of calls that name none. */
  readonly workingDirectory: string
  /** Stands for the installation itself (`scope=installation`): a directory that has no workspace layer. */
  readonly installationDirectory: string
}

/** What lives here and what happens to it; for the local operator. */
export interface Inspector {
  tree(): InspectorTree
  machines(): InspectedMachine[]
  /** What the processes of a plugin wrote to their log last. */
  lines(key: string): InspectedLines
  trace(): InspectorTrace
  /** Frames `records` after the cursor, from now on without one; throws `quota.exceeded` when too many look. */
  subscribe(since: number | undefined, sink: FrameSink): EventSubscription
}

/** Numbers for operators; see `src/actors/telemetry/metric-table.ts`. */
export interface Metrics {
  /** In the text form of OpenMetrics. Counts from the first time on, where it does not count already. */
  read(): Promise<string>
  /** A call of HTTP was answered: of which operation, undefined = none; how long it took, undefined = as long as somebody listened. */
  answered(operation: string | undefined, status: number, ms: number | undefined): void
}

/** A running service. */
export interface Runtime {
  readonly sessions: Sessions
  readonly interactions: Interactions
  readonly events: Events
  readonly resources: Resources
  readonly configs: Configs
  readonly providers: Providers
  readonly connections: Connections
  readonly signIns: SignIns
  readonly artifacts: Artifacts
  readonly system: System
  readonly plugins: Plugins
  readonly inspector: Inspector
  readonly metrics: Metrics
  readonly traces: Pick<Traces, 'arrived'>
  readonly management: Management
}
