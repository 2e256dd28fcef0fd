/** The surface of `svc/client` beyond the operations: types only, because the build copies this file into the declarations. */
import type { PermissionReply, PermissionRequest, QuestionReply, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { AbortQueue, Message, PromptRequestInput, ToolPart } from '../../protocol/message/message.js'
import type { Operations, SvcEvent } from './operation-types.js'

export interface ClientOptions {
  /** Where the server answers, such as `http://127.0.0.1:4096`. */
  readonly baseUrl: string | URL
  /** The bearer token of the server (`SVC_AGENT_TOKEN`). */
  readonly token?: string | undefined
  /** Directory of calls that take one and are given none. */
  readonly directory?: string | undefined
  /** Instead of the global `fetch`. */
  readonly fetch?: ((input: string, init: RequestInit) => Promise<Response>) | undefined
}

export interface Client extends Omit<Operations, 'events'> {
  /** Follows events across lost connections and restarts of the server. `events.subscribe` is one connection, as it is. */
  readonly events: ((options?: EventOptions) => AsyncIterable<SvcEvent | Gap>) & Operations['events']
  /** Submits a prompt and follows its answer; a text stands for `{ prompt: text }`. Nothing is sent before the first event is asked for. */
  prompt(sessionId: string, request: string | PromptRequestInput, options?: PromptOptions): PromptRun
  /** Answers what a session asks already and from now on, whosever prompt it is about, until `signal` is aborted. */
  attend(sessionId: string, options: AttendOptions): Promise<void>
}

export interface AttendOptions extends Pick<PromptOptions, 'onPermission' | 'onQuestion' | 'attempts'> {
  readonly signal: AbortSignal
}

export interface EventOptions {
  /** Only the family of this session. */
  readonly sessionId?: string | undefined
  /** Begins after this sequence. Without `since` and `tail`, with the oldest event that is kept. */
  readonly since?: number | undefined
  /** Begins now. */
  readonly tail?: boolean | undefined
  /** Ends the iteration, quietly. */
  readonly signal?: AbortSignal | undefined
  /** How often in a row reconnecting may fail before its error is thrown; default 12, which is about a minute and a half. */
  readonly attempts?: number | undefined
}

/**
 * Events were or may have been missed; those after it are live. Fetch again what is kept of the server.
 * `expired`: the server no longer keeps what came after the cursor. `replaced`: it has never handed that cursor out, so its
 * state is another one. `unseen`: the connection was lost before it told a cursor.
 */
export interface Gap {
  readonly type: 'gap'
  readonly reason: 'expired' | 'replaced' | 'unseen'
  /** The last sequence seen. */
  readonly after: number | undefined
}

export interface PromptOptions {
  /** Answers permission requests of the run; undefined leaves a request to somebody else. */
  readonly onPermission?: ((request: PermissionRequest, context: PermissionContext) => Maybe<PermissionAnswer | undefined>) | undefined
  /** Answers questions of the run, a list of texts for each; undefined leaves a question to somebody else. */
  readonly onQuestion?: ((request: QuestionRequest, context: AskContext) => Maybe<QuestionAnswer | undefined>) | undefined
  /** Hears every event of the session and its children as it came, before what is told of it. */
  readonly onEvent?: ((event: SvcEvent | Gap) => void) | undefined
  /**
   * Takes the prompt back while it waits, aborts its run on the server once there is one; never the run of another prompt that it
   * waits for. The iteration still ends with its `end`, unless the server does not answer for five seconds.
   */
  readonly signal?: AbortSignal | undefined
  /** Also puts to the callbacks what the session asks before the prompt has its turn, whosever prompt that is about. */
  readonly attends?: boolean | undefined
  /** What an abort of `signal` does with other prompts that wait: the next one runs (`go-on`, the default), they are held, or removed. */
  readonly abortQueue?: AbortQueue | undefined
  /** As in `EventOptions`. */
  readonly attempts?: number | undefined
}

type Maybe<T> = T | Promise<T>
/** `always` remembers exactly what was asked; `{ reply: 'always', alwaysPatterns }` also the wider patterns it names. */
type PermissionAnswer = 'once' | 'always' | 'reject' | PermissionReply
type QuestionAnswer = 'reject' | QuestionReply['answers']

interface AskContext {
  /** Aborted when somebody else has answered, or nobody waits for an answer any more. */
  readonly signal: AbortSignal
}

interface PermissionContext extends AskContext {
  /** What the request offers to remember beyond what it asks; empty when nothing. */
  readonly wider: readonly string[]
}

/** What happens to one prompt. Iterate it once, or ask for its `result`; leaving the loop early leaves the run alone. */
export interface PromptRun extends AsyncIterable<PromptEvent> {
  /** Id of the prompt. Submitting it again under this id does nothing twice. */
  readonly messageId: string
  /** Reads to the end. */
  result(): Promise<PromptEnd>
}

export type PromptEvent =
  /** More text of the answer, or of what the model thinks. */
  | { readonly type: 'text' | 'reasoning'; readonly messageId: string; readonly partId: string; readonly delta: string }
  /** What was said in this message so far is withdrawn: its step is tried again. */
  | { readonly type: 'withdrawn'; readonly messageId: string }
  /** A tool call is new or has changed. */
  | { readonly type: 'tool'; readonly part: ToolPart }
  /** The model failed and is asked again. */
  | {
      readonly type: 'retry'
      /** How many have failed. */
      readonly attempt: number
      /** How many there are at most, the first included; a server of before does not tell. */
      readonly attempts?: number
      readonly message: string
      /** When, in Unix milliseconds. */
      readonly next?: number
    }
  /** The conversation is compacted before the answer goes on. */
  | { readonly type: 'compacting'; readonly messageId: string }
  | { readonly type: 'permission'; readonly request: PermissionRequest }
  | { readonly type: 'question'; readonly request: QuestionRequest }
  /** A permission request or question is settled, whoever settled it. */
  | { readonly type: 'settled'; readonly requestId: string }
  /** Events of the run are lost (never `unseen`); what the server keeps of it follows. */
  | Gap
  | PromptEnd

export interface PromptEnd {
  readonly type: 'end'
  /** The last message of the answer as it is stored; undefined when there was none. */
  readonly message: Message | undefined
  /** Its text. */
  readonly text: string
  /** Why the run did not end well; `interrupted` when it was aborted or the server stopped. */
  readonly error: { readonly message: string; readonly interrupted: boolean } | undefined
  /** The prompt was removed from the queue before it began. */
  readonly isTakenBack?: true
}
