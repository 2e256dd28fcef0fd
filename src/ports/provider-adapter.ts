/**
 * The stream contract between a run and whatever generates text (service.md, Provider configuration).
 * A provider pushes parts synchronously as they arrive; it never buffers and never retries.
 */
import type { FilePart, ModelRef } from '../protocol/message/message.js'
import type { TraceContext } from '../protocol/trace-context.js'
import type { TokenUsage } from '../protocol/message/token-usage.js'

/** A message as the model is sent it. */
export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly content: readonly UserContent[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantContent[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResultContent[] }

export type UserContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly file: Pick<FilePart, 'mime' | 'url' | 'filename'> }

/** `metadata` is what the provider said of the part, such as a signature: it goes back as it came. */
export type AssistantContent =
  | { readonly type: 'text'; readonly text: string; readonly metadata?: unknown }
  | { readonly type: 'reasoning'; readonly text: string; readonly metadata?: unknown }
  | {
      readonly type: 'tool-call'
      readonly callId: string
      readonly tool: string
      readonly input: unknown
      readonly metadata?: unknown
      /** The provider executed it: a `tool-result` follows in the same message. */
      readonly executed?: true
    }
  | ExecutedResult

/** What a tool of the provider's own answered. */
export interface ExecutedResult {
  readonly type: 'tool-result'
  readonly callId: string
  readonly tool: string
  readonly output: unknown
  readonly isError: boolean
  readonly metadata?: unknown
  /** How it is shown, where its output is no text for people. */
  readonly shown?: { readonly title: string; readonly text: string; readonly metadata?: Readonly<Record<string, unknown>> }
}

export interface ToolResultContent {
  readonly callId: string
  readonly tool: string
  readonly output: string
  readonly isError: boolean
  readonly attachments?: readonly Pick<FilePart, 'mime' | 'url' | 'filename'>[]
}

export interface ToolDefinition {
  readonly id: string
  readonly description: string
  /** JSON Schema of the input, closed. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON Schema of the result, for providers that take one. */
  readonly outputSchema?: unknown
}

export interface GenerateRequest {
  readonly sessionId: string
  readonly directory: string
  readonly model: ModelRef
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolDefinition[]
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  /** Extra request options of provider, model, variant and agent, merged in that order. */
  readonly options: Readonly<Record<string, unknown>>
  /** Request headers of the model, added to those of the provider; never a credential. Absent = as configured. */
  readonly headers?: Readonly<Record<string, string>>
  /** The catalog says that the model thinks before it answers. */
  readonly reasons?: true
  /** Message field in which the model wants its earlier reasoning back; absent = it is not sent back. */
  readonly reasoningField?: string
}

export type StreamPart =
  | { readonly type: 'text'; readonly delta: string }
  /** A passage of text begins here among the parts, or has ended: only of providers to which that matters. */
  | { readonly type: 'text-start'; readonly id: string }
  | { readonly type: 'text-end'; readonly id: string; readonly metadata?: unknown }
  | { readonly type: 'reasoning-start'; readonly id: string }
  | { readonly type: 'reasoning'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-end'; readonly id: string; readonly metadata?: unknown }
  | { readonly type: 'tool-input-start'; readonly callId: string; readonly tool: string }
  | { readonly type: 'tool-input'; readonly callId: string; readonly delta: string }
  /** The arguments are complete: `input` is their text as the provider sent it, which may be no JSON. Not executed after `finish`. */
  | {
      readonly type: 'tool-call'
      readonly callId: string
      readonly tool: string
      readonly input: string
      readonly metadata?: unknown
      /** The provider executes it itself: a `tool-result` follows. */
      readonly executed?: true
    }
  /** What is shown of a call that the provider executes, while it does. */
  | { readonly type: 'tool-progress'; readonly callId: string; readonly metadata: Readonly<Record<string, unknown>> }
  | ExecutedResult
  /** What the model made besides text: shown to people, and to no model. */
  | { readonly type: 'file'; readonly file: Pick<FilePart, 'mime' | 'url' | 'filename'> }
  /** `cost` is what the provider says it was, in dollars. */
  | { readonly type: 'finish'; readonly reason: string; readonly usage: TokenUsage; readonly cost?: number }

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** A provider error the run can reason about; any other rejection counts as not retryable. */
export class ProviderError extends Error {
  readonly retryable: boolean
  /** Wait the provider asked for, ms. */
  readonly retryAfterMs: number | undefined
  /** The request was too large for the context window. */
  readonly overflow: boolean
  /** Tries after the first that can help; undefined = as many as the installation allows. */
  readonly retries: number | undefined
  /** The credential was refused (401). */
  readonly unauthorized: boolean

  constructor(
    message: string,
    options: {
      retryable: boolean
      retryAfterMs?: number | undefined
      overflow?: boolean
      retries?: number
      unauthorized?: boolean
      cause?: unknown
    },
  ) {
    super(message, { cause: options.cause })
    this.name = 'ProviderError'
    this.retryable = options.retryable
    this.retryAfterMs = options.retryAfterMs
    this.overflow = options.overflow ?? false
    this.retries = options.retries
    this.unauthorized = options.unauthorized ?? false
  }
}

export interface ProviderAdapter {
  /**
   * Streams one model step into `push`; resolves after the provider's terminal `finish` part was pushed.
   * Rejects with `ProviderError` on refusal, on a stream that ends without its terminal signal, on garbage and on silence.
   * Nothing is pushed after the promise settles or `signal` aborts.
   */
  generate(request: GenerateRequest, push: (part: StreamPart) => void, signal: AbortSignal): Promise<void>
}

/** Who answers a step of a session by working itself, instead of a model. */
export interface SessionWorker<Tool = unknown> {
  /** As `ProviderAdapter.generate`; what it needs of this machine it asks for at the desk. */
  work(request: WorkRequest, push: (part: StreamPart) => void, desk: StepDesk<Tool>, signal: AbortSignal): Promise<void>
}

/** Of a message: its texts, and what was called. */
export interface Said {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly calls: readonly string[]
}

/** A worker keeps the conversation itself: it is told what it has not heard. */
export interface WorkRequest {
  readonly sessionId: string
  readonly directory: string
  /** Of which trace the turn is part. */
  readonly trace?: TraceContext
  /** What was said since the last answer. */
  readonly prompt: string
  /** What was said before that, oldest first. */
  before(): readonly Said[]
  /** Nobody will answer what the run asks. */
  readonly unattended: boolean
}

/** Where a worker asks the session for what it needs. */
export interface StepDesk<Tool = unknown> {
  /** Judged, asked for and run as a call of a model, by the rules of the session; no step follows it. Never rejects. */
  call(call: DeskCall<Tool>): Promise<DeskEnd>
}

export interface DeskCall<Tool = unknown> {
  /** One of the tools of the session, or one for this call alone. */
  readonly tool: string | Tool
  readonly input: unknown
  /** A call that the worker makes itself, and that this belongs to: what is asked is asked for it, and no part is made. */
  readonly of?: string
  /** Stops this call alone. */
  readonly signal?: AbortSignal
  onProgress?(metadata: Readonly<Record<string, unknown>>): void
}

/** How a call at the desk ended: its output as it is kept, or a sentence why there is none. */
export type DeskEnd = ({ readonly ok: true; readonly output: string } | { readonly ok: false; readonly error: string }) & {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
