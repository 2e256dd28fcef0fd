/** What one run works with, from its claim to its end. Held by the session actor's effects, never by a machine. */
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import { evaluateLayers, type PermissionGrant, type PermissionLayers } from '../../../machines/permission/permission.js'
import type { PermissionRule } from '../../../protocol/interaction/interaction.js'
import type { PermissionNeed } from '../../../ports/plugin.js'
import type { InRun } from '../../../ports/programs.js'
import type { RegisteredTool } from '../../../ports/view.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import type { RunTarget } from '../admission/append.js'
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import type { OpenCompaction } from '../compaction/open-compaction.js'
import { layersFor } from './ceilings.js'
import { givenSteps } from './given-steps.js'
import type { StepRecorder } from './recorder.js'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'

/** What is judged and then executed: the tool as it is published by now, and its input after the hook `tool.before`. */
export interface Attempt {
  readonly tool: RegisteredTool
  readonly input: unknown
  /** The input is not what the model asked for. */
  readonly isChanged: boolean
}

/** The need a judgement stopped at, and the project whose approvals were judged by (see `Project.approvals`). */
export interface Asking {
  readonly need: PermissionNeed
  readonly approvals: string
}

/** A tool call whose arguments were accepted. */
export interface OpenCall {
  readonly callId: string
  /** The tool that was offered; its generation may have been retired since. */
  readonly tool: RegisteredTool
  /** The arguments as the model gave them, before the tool's schema. */
  readonly given: unknown
  readonly input: unknown
  readonly step: StepRecorder
  readonly grants: PermissionGrant[]
  /** Why every need of the call takes an explicit answer. */
  readonly explicit: string | undefined
  /** The latest that was judged. */
  attempt: Attempt
  /** What to ask about next. */
  asking: Asking | undefined
}

export interface StepScope {
  readonly number: number
  readonly isLast: boolean
  /** Undefined = the step makes the calls the prompt came with, and asks no model. */
  readonly request: GenerateRequest | undefined
  readonly offered: ReadonlyMap<string, RegisteredTool>
  readonly recorder: StepRecorder
  readonly segmentId: string
  finish: string
  usage: TokenUsage | undefined
}

export interface RunScope {
  readonly session: Session
  readonly rootId: string
  readonly runId: string
  readonly startedAt: number
  readonly prompt: QueuedPrompt
  /** Its claim survives a loss of power. */
  isSynced: boolean
  /** As of the step under way: plan mode that a tool switches changes the agent. */
  target: RunTarget
  /** Whether the session planned when `target` was settled. */
  isPlanning: boolean
  /** Rules of the session itself, and of those that delegated to it, as of the latest step or call (`refreshRules`). */
  permission: readonly PermissionRule[]
  ceilings: readonly PermissionLayers[]
  /** The user message answered; a steering prompt that joins becomes it. */
  messageId: string
  readonly calls: Map<string, OpenCall>
  /** Fingerprints of the latest calls, for the doom loop. */
  readonly recent: string[]
  step: StepScope | undefined
  /** As of the latest step. */
  policy: CompactionPolicy | undefined
  /** Tokens of the latest request, or of the one that is to be made. */
  size: number
  /** The latest; it may have ended. */
  compaction: OpenCompaction | undefined
}

/** Steps up to this one in which a model is asked; none = this one makes calls the prompt came with. */
export function stepsAsked({ prompt }: Pick<RunScope, 'prompt'>, step: number): number {
  return Math.max(0, step - givenSteps(prompt).length)
}

/** Rules of the run: agent, session, prompt `tools` (decision 6); later ones win (sessions-events §8.4). */
export function layersOf(run: RunScope): PermissionLayers {
  const own = layersFor({ ...run.session, permission: [...run.permission] }, run.target.agent, refusedTools(run))
  return { ...own, ceilings: [...(own.ceilings ?? []), ...run.ceilings] }
}

/** What the rules of the run say of targets; answers that were given besides do not count. */
export function rulesOf(run: RunScope): InRun {
  return { decisions: (permission, patterns) => patterns.map((pattern) => evaluateLayers(layersOf(run), permission, pattern)) }
}

/** Tools the prompt of the run leaves out. */
export function refusedTools({ prompt }: Pick<RunScope, 'prompt'>): readonly string[] {
  return Object.entries(prompt.tools ?? {}).flatMap(([tool, isOffered]) => (isOffered ? [] : [tool]))
}
