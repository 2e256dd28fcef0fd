/** Tools a test plays. Part of the declarations of `svc/testing`: types only. */
import type { WaitOptions } from './journal-types.js'

export interface TestToolOptions {
  readonly id: string
  /** What the model is told; made of the id when absent. */
  readonly description?: string
  /** JSON Schema of the input object; any object when absent. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Permission group that is asked before a call, for the whole input; the id when absent. */
  readonly permission?: string
  /** Goes on when its call is aborted, as a tool must not. */
  readonly ignoresAbort?: boolean
}

/** A tool whose calls wait until the test settles them. */
export interface TestTool {
  readonly id: string
  /** Every call so far. */
  readonly calls: readonly HeldCall[]
  /** Resolves with the oldest call that was not answered by this yet, past or future. */
  called(options?: WaitOptions): Promise<HeldCall>
  /** From now on calls answer by themselves; what the function throws is shown to the model. */
  answers(answer: string | ((input: Readonly<Record<string, unknown>>) => string | Promise<string>)): void
}

export interface HeldCall {
  readonly input: Readonly<Record<string, unknown>>
  readonly callId: string
  readonly sessionId: string
  /** Aborted when the run is, or the service stops. */
  readonly signal: AbortSignal
  /** Shows progress on the part of the call. */
  progress(metadata: Readonly<Record<string, unknown>>): void
  finishes(output: string): void
  /** Fails with what the model should see. */
  fails(message: string): void
}
