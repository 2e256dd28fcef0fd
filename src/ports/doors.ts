/** Doors of the host that lead to the journal and to sessions; every native plugin may use them (laws §7). */
import type { Placeholder } from './process-facts.js'
import type { Caller } from '../protocol/caller.js'
import type { Artifact } from '../protocol/system/artifact.js'
import type { CreateSessionRequest, Session, SessionUsage } from '../protocol/session/session.js'
import type { Refusal } from '../protocol/interaction/refusal.js'
import type { EventData, EventType } from '../protocol/event/event.js'
import type { ChangeNotes, FileState } from '../protocol/session/snapshot.js'
import type { Message, PromptRequest } from '../protocol/message/message.js'
import type { Durability } from '../store/store.js'
import type { PluginRow, PluginRowQuery } from '../store/plugin-rows.js'
import type { Found, Parts, SearchIndex } from '../store/found.js'
import type { TokenUsage } from '../protocol/message/token-usage.js'
import type { ModelMessage } from './provider-adapter.js'

export type Emit = <T extends EventType>(type: T, data: EventData<T>) => void

/** Durable rows of the plugin, committed together with the events that tell of them. */
export interface PluginRows {
  get(kind: string, id: string): PluginRow | undefined
  /** By `sort`, then id; ascending unless asked otherwise. */
  list(kind: string, query?: PluginRowQuery): PluginRow[]
  /** Runs `change` (synchronous) in one transaction; its events are published after it. A throw undoes everything. */
  commit<T>(durability: Durability, change: (tx: RowsChange) => T): T
  /** Calls `gone` with each row of the kind that went with its session, once that is committed; the latest who asked is told. */
  parting(kind: string, gone: (id: string) => void): void
}

export interface RowsChange {
  /** Adds a row; false, without effect, when the id is taken. */
  insert(kind: string, row: PluginRow): boolean
  put(kind: string, row: PluginRow): void
  delete(kind: string, id: string): void
  /** Adds a durable event to the transaction. */
  readonly emit: Emit
  /** Runs once the transaction is committed and before anything is published. */
  after(run: () => void): void
}

/** Where commands of agents run when `permission.sandbox` is on. */
export interface CommandSandbox {
  /** Whether commands of a directory run in it. */
  isOn(directory: string): Promise<boolean>
  /** Why no command can run in it here, for people; undefined = they can. */
  whyMissing(): Promise<string | undefined>
  /** What a canonical path outside the session directory is inside, for every command alike; undefined: not there, unless it is asked for. */
  placeOf(path: string): 'read-only' | 'private' | undefined
  /** The command line that runs the program in it, or a sentence for people why it cannot run. Never outside of it. */
  wrap(command: SandboxedCommand): Promise<ConfinedLine | { readonly unavailable: string }>
}

interface ConfinedLine {
  readonly program: string
  readonly args: readonly string[]
  /** What its process must hold while it runs (`SpawnOptions.holds`): else it does not start. */
  readonly holds?: readonly Placeholder[]
}

/** All paths are canonical. */
export interface SandboxedCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Directory of the session, writable. */
  readonly workspace: string
  readonly network: boolean
  /** Of a stranger: nothing but what lies here and the system itself is shown, no repository around it and nothing of the home. */
  readonly within?: readonly string[]
  /** The `PATH` it is given: programs are found there. */
  readonly searchPath: string
  /** Directories outside the workspace that it was allowed to touch. */
  readonly directories: readonly string[]
  /** Of those, what it keeps itself, though it is hidden from every other command. */
  readonly own?: readonly string[]
  /** Files it was allowed to read. */
  readonly reads: readonly string[]
  /** Files it was allowed to write, protected ones included. */
  readonly writes: readonly string[]
}

/** States of files, kept for undo. */
export interface FileStateDoor {
  /** For the changes of one call: what of it is small stands in its part. */
  begin(sessionId: string): FileStateNotes
}

export interface FileStateNotes {
  /** A file with this content and these permission bits. */
  file(content: Uint8Array, mode: number | undefined): Promise<FileState>
}

/** Artifacts a session may see. */
export interface SessionArtifacts {
  /** By address, id, or the path of a kept output; undefined when there is none, or it is of another session. Read `bytes` to the end, or leave it. */
  open(sessionId: string, reference: string): Promise<SessionArtifact | undefined>
}

export interface MediaDoor {
  /** Whether some provider that the session sees makes files. Cheap. */
  isThere(sessionId: string): boolean
  /** Has a provider of a plugin make a file, which becomes an artifact of the session; rejects with a sentence for the model. */
  make(sessionId: string, wish: MediaWish, signal: AbortSignal): Promise<MadeMedia>
}

export interface MediaWish {
  readonly kind: 'image' | 'video'
  readonly prompt: string
  /** Without it: the only one there is. */
  readonly providerId?: string | undefined
  /** Without it: the first of the provider. */
  readonly modelId?: string | undefined
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

interface MadeMedia {
  readonly artifact: Artifact
  readonly providerId: string
  readonly modelId: string
  /** What the provider made of the prompt, where it says so. */
  readonly revisedPrompt: string | undefined
}

interface SessionArtifact {
  readonly id: string
  readonly title: string
  readonly mediaType: string
  readonly size: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** What the runtime says. */
export interface Notice {
  readonly text: string
  /** Nobody will answer what the run asks that it begins. */
  readonly unattended?: boolean
}

/** What a session has going on besides its own runs. */
export interface Work {
  readonly kind: 'task' | 'job'
  /** Of the task or the job. */
  readonly id: string
  /** Unix ms. */
  readonly startedAt: number
  /** Ends it in silence; resolves once nothing of it runs. */
  readonly end?: () => Promise<void>
}

/** How the last run of a session ended; `text` is what it said last. */
export type SessionOutcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string; readonly text: string }

/** How the last run of a session came to its end: `stopped` with the server, `aborted` by somebody. */
export interface RunEnd {
  readonly runId: string
  readonly end: 'completed' | 'failed' | 'aborted' | 'stopped'
  readonly error?: string
  readonly unattended: boolean
  /** The last that was said in the session is a prompt, of which nobody has said anything yet. */
  readonly isUnanswered: boolean
}

/** The index of what was said, and what of it somebody may see. */
export interface SearchDoor
  extends Pick<SearchIndex, 'open' | 'step' | 'head' | 'discard' | 'close' | 'useVectors' | 'unembedded' | 'putVectors'> {
  /**
   * The best `limit` matches that are shown now and may be seen; undefined while the index cannot be asked. Throws `resource.not_found`,
   * `auth.session_forbidden` and `auth.directory_forbidden` for a session that is none, or none of the caller's. In parts, none of which is long.
   */
  parts(query: string, limit: number, viewer: SearchViewer, vector?: Float32Array): Parts<readonly Found[] | undefined>
}

export interface SearchViewer {
  readonly caller: Caller
  /** Only this session. */
  readonly sessionId?: string | undefined
}

/** Models, as a session talks to them. */
export interface ModelDoor {
  /**
   * Asks the model of the session once, without tools, beside its conversation. Throws `resource.not_found`, what the provider throws, and when
   * the answer is longer than `LIMITS.mcp.samplingText` characters; rejects when `signal` aborts.
   */
  ask(sessionId: string, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>
}

export interface ModelQuestion {
  readonly messages: readonly ModelMessage[]
  /** Less where the model can do less. */
  readonly maxOutputTokens: number
  readonly temperature?: number | undefined
}

export interface ModelAnswer {
  /** `provider/model`. */
  readonly model: string
  readonly text: string
  /** See `FinishReason`. */
  readonly reason: string
  readonly usage: TokenUsage
}

export interface SessionSequel {
  /** The session is told this, and goes on. */
  readonly notice?: Notice
  /** Kept on its record; undefined values remove what was kept. */
  readonly notes?: Readonly<Record<string, unknown>>
  /** Changes rows of the plugin. */
  along(tx: RowsChange): void
}

/** Sessions as a local caller uses them. */
export interface SessionDoor {
  /**
   * `extra` fields are kept on the record; `directory` is canonical and exists. `along` (synchronous) changes rows of the
   * plugin in the transaction that creates the session: either both are there or neither. They survive a loss of power once the
   * first prompt is admitted, so that nobody waits for the disk twice.
   */
  create(
    directory: string,
    request: CreateSessionRequest,
    extra?: Readonly<Record<string, unknown>>,
    along?: (tx: RowsChange, session: Session) => void,
  ): Promise<Session>
  /** Resolves once the prompt is durably admitted. */
  prompt(sessionId: string, request: PromptRequest): Promise<void>
  abort(sessionId: string): Promise<boolean>
  /**
   * Notes that the session works in another directory, canonical and there, once the run under way has ended. Rejects with
   * `resource.not_found`, and when `signal` aborts, with nothing noted.
   */
  move(sessionId: string, wanted: { readonly directory: string; readonly switchWorkspace: boolean }, signal: AbortSignal): Promise<void>
  /** Removes prompts that wait and were not begun; answers how many. With `all`, also what the runtime has to tell. */
  clearQueue(sessionId: string, all?: 'all'): number
  /**
   * Tells the session something in the name of the runtime: it joins the run under way, or begins one. `along` (synchronous)
   * changes rows of the plugin in the same transaction: told and noted, or neither. Throws `resource.not_found`.
   */
  tell(sessionId: string, notice: Notice, along?: (tx: RowsChange) => void): void
  /**
   * What follows a run by itself, in the same commit: `ask` is called within each that ends a run after which nothing of its session waits or is
   * worked on. It reads only, also what that commit has written. Answers what ends the asking.
   */
  follow(ask: (sessionId: string) => SessionSequel | undefined): () => void
  /** Notes that the plugin does work for the session: until the answered function is called, its execution is not finished. */
  begin(sessionId: string, work: Work): () => void
  /** Commands that run for the session, `but` one, as `session.background_tasks.updated` tells them once that one has ended. */
  backgroundTasks(sessionId: string, but?: string): EventData<'session.background_tasks.updated'>
  /** Ends the commands that run for the session, in silence; resolves once nothing of them runs. */
  endJobs(sessionId: string): Promise<void>
  /** Whether nothing of the session runs, waits or is worked on. */
  isQuiet(sessionId: string): boolean
  /** Resolves once `isQuiet`; rejects when `signal` aborts. */
  quiet(sessionId: string, signal: AbortSignal): Promise<void>
  /** What the answers of the session and of all below it have cost. */
  usage(sessionId: string): SessionUsage
  /**
   * What the session and all below it have done to files with calls that began at `since` or later: absolute paths, one change for each file. What
   * is kept beside is kept for the session `keeper` as well.
   */
  changes(sessionId: string, from: { readonly since: number; readonly keeper: string }): ChangeNotes
  get(sessionId: string): Session | undefined
  isBusy(sessionId: string): boolean
  /** Resolves when nothing runs and nothing is queued; rejects when `signal` aborts. */
  settled(sessionId: string, signal: AbortSignal): Promise<void>
  /** Of the last assistant message; an aborted or unanswered prompt is not ok. */
  outcome(sessionId: string): SessionOutcome
  /** What nobody answered in time, in the session and all below it, oldest first; at most `LIMITS.run.toldRefusals`. */
  refusals(sessionId: string): readonly Refusal[]
  /** Of the last run, which may be under way; undefined = none is over. */
  lastEnd(sessionId: string): RunEnd | undefined
  /** The last finished answers of models, oldest first: at most so many, and those after the named one where it is among them. Summaries are none. */
  answers(sessionId: string, from: { readonly after?: string | undefined; readonly most: number }): readonly Message[]
  /**
   * Keeps a value on the record of the session under a name of the plugin's, with its `session.updated`; undefined removes it. `along`
   * (synchronous) changes rows of the plugin in the same transaction. Throws `resource.not_found`.
   */
  note(sessionId: string, name: string, value: unknown, along?: (tx: RowsChange) => void): void
}

/** A call of an operation of the contract, validated and admitted. */
export interface OperationCall {
  readonly caller: Caller
  /** Canonical directory of a `directory` operation; '' for every other. */
  readonly directory: string
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
  readonly signal: AbortSignal
}

/** Answers what the contract of the operation promises; throws `SvcError`. */
export type Operation = (call: OperationCall) => Promise<unknown>
