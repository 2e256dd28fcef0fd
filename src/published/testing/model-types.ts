/** The model a test plays. Part of the declarations of `svc/testing`: types only. */

/** What the model was sent, as svc hands it to a provider. */
export interface ModelRequest {
  readonly sessionId: string
  readonly directory: string
  readonly messages: readonly { readonly role: string; readonly [key: string]: unknown }[]
  readonly tools: readonly { readonly id: string; readonly description: string }[]
  readonly [key: string]: unknown
}

export interface ModelCall {
  readonly tool: string
  /** `{}` when absent. */
  readonly input?: unknown
  /** Made when absent: `call_1`, `call_2`, … */
  readonly callId?: string
}

/** Steps the model will play, one for each time it is asked. */
export interface TestModel {
  /** Says the text, word by word, and ends its turn. */
  says(text: string): TestModel
  /** Calls one tool. */
  callsTool(tool: string, input?: unknown): TestModel
  /** Calls several tools in one step. */
  callsTools(...calls: readonly ModelCall[]): TestModel
  /** Fails as a provider does; a retryable failure is tried again after a pause, with the step after this one. */
  fails(message: string, options?: { readonly retryable?: boolean }): TestModel
  /** Waits until the test says what comes of it. */
  waits(): HeldStep
  /** Steps that were not asked for yet. */
  readonly left: number
  /** What the model was sent, one for each step. */
  readonly requests: readonly ModelRequest[]
}

/** A step under way. Its last word is given once: text, calls or a failure. */
export interface HeldStep {
  /** Resolves with the request once the model is asked. */
  readonly started: Promise<ModelRequest>
  /** Part of the answer; more may come. */
  streams(text: string): void
  says(text: string): void
  callsTool(tool: string, input?: unknown): void
  fails(message: string, options?: { readonly retryable?: boolean }): void
}
