/** Prompts in their queue (http-contract QueuedPrompt). */
import type { PromptPart, UserModel } from './message.js'

/** A prompt as it is queued: content settled into parts, defaults filled in (http-contract QueuedPrompt). */
export interface QueuedPrompt {
  readonly messageId: string
  readonly parts: readonly PromptPart[]
  readonly noReply: boolean
  readonly model?: UserModel
  readonly agent?: string
  readonly system?: string
  readonly tools?: Readonly<Record<string, boolean>>
  readonly author?: string
  readonly unattended?: true
  /** Tools the run calls before its first step; with `noReply`, all it does. */
  readonly calls?: readonly GivenCall[]
}

/** A tool call that no model asked for: a shell command of the user, what a command includes. */
export interface GivenCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** Why somebody has to agree, whatever the rules allow. */
  readonly explicit?: string
}
