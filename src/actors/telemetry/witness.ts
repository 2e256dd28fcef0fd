/** What metrics and traces are told of: runs, steps and calls of sessions, as the journal tells them. */
import type { AssistantInfo, ToolPart, UserInfo } from '../../protocol/message/message.js'

export interface WatchedRun {
  readonly sessionId: string
  readonly runId: string
  /** Unix ms, as every time here. */
  readonly startedAt: number
  /** What it answers, where that was seen. */
  readonly prompt: UserInfo | undefined
  /** The session above, of one that was delegated. */
  readonly parentId: string | undefined
  /** What was asked; empty unless texts are kept. */
  said(): string
}

/** A request to a model, or a turn of an agent that works by itself. */
interface WatchedStep {
  readonly sessionId: string
  readonly info: AssistantInfo
  /** What the model said; empty unless texts are kept, and before its end. */
  said(): string
}

export interface WatchedCall {
  readonly sessionId: string
  readonly messageId: string
  readonly part: ToolPart
}

export type RunEnd = 'completed' | 'error' | 'interrupted'

export interface Witness {
  promptArrived?(sessionId: string, messageId: string): void
  runStarted?(run: WatchedRun): void
  /** `cause`: the code of what failed. */
  runEnded?(run: WatchedRun, end: RunEnd, at: number, cause: string | undefined): void
  stepStarted?(step: WatchedStep): void
  /** Another attempt of a step follows. */
  stepRetried?(sessionId: string): void
  stepEnded?(step: WatchedStep): void
  callStarted?(call: WatchedCall): void
  /** What is shown of it while it runs has changed. */
  callShown?(call: WatchedCall): void
  callEnded?(call: WatchedCall): void
  compacted?(status: string): void
  asked?(kind: 'permission' | 'question'): void
  answered?(kind: 'permission' | 'question', reply: string): void
}
