/** What one run works with, from its claim to its end. Held by the session actor's effects, never by a machine. */
import type { PermissionGrant, PermissionLayers } from '../../../machines/permission/permission.js'
import type { PermissionNeed } from '../../../ports/plugin.js'
import type { RegisteredTool, RegistryView } from '../../../ports/view.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import type { CommitMark } from '../../events/syncs.js'
import type { ClaimedRun } from './claimed-run.js'
import type { Segment } from '../state/executions.js'
import type { Ending } from './record/ending.js'
import type { StepRecorder } from './record/recorder.js'
import type { PreparedEarly } from './prepared-early.js'
import type { SentEarly } from './sent-early.js'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import type { World } from './world.js'

/** What is judged and then executed: the tool as it is published by now, and its input after the hook `tool.before`. */
export interface Attempt {
  readonly tool: RegisteredTool
  readonly input: unknown
  /** The input is not what the model asked for. */
  readonly isChanged: boolean
  /** Whose hooks it has. */
  readonly view: RegistryView
}

/** The need a judgement stopped at, and by which rules. */
export interface Asking {
  readonly need: PermissionNeed
  readonly layers: PermissionLayers
}

/** Where a call is recorded. */
export type CallRecorder = Pick<StepRecorder, 'info' | 'callChanging' | 'callProgress' | 'callCompleted' | 'callFailed'>

/** A tool call whose arguments were accepted. */
export interface OpenCall {
  readonly callId: string
  /** Of its step. */
  readonly world: World
  /** The tool that was offered; its generation may have been retired since. */
  readonly tool: RegisteredTool
  /** The arguments as the model gave them, before the tool's schema. */
  readonly given: unknown
  readonly input: unknown
  readonly step: CallRecorder
  /** The part it is asked for, where it has none of its own. */
  readonly shownAs?: string
  readonly grants: PermissionGrant[]
  /** Why every need of the call takes an explicit answer. */
  readonly explicit: string | undefined
  /** It came with the prompt; no model asked for it. */
  readonly isOfPrompt: boolean
  /** The latest that was judged. */
  attempt: Attempt
  /** What to ask about next. */
  asking: Asking | undefined
}

export interface StepScope {
  readonly world: World
  readonly number: number
  readonly isLast: boolean
  /** Undefined = it asks no model: it makes the calls the prompt came with, or a worker answers. */
  readonly request: GenerateRequest | undefined
  readonly offered: ReadonlyMap<string, RegisteredTool>
  readonly recorder: StepRecorder
  readonly segmentId: string
  finish: string
  usage: TokenUsage | undefined
  /** As the provider said it, where it did. */
  cost?: number | undefined
}

/** Where a run is: what its next step replaces. */
interface RunPlace {
  /** The latest that was opened. */
  step: StepScope | undefined
  /** The first step, until the run is under way. */
  prepared: PreparedEarly | undefined
  /** What that step asked before it was opened, until the step is under way. */
  sent: SentEarly | undefined
  /** Of that step, where it is over and not stored (`put-off.ts`). */
  ending: Ending | undefined
  /** The latest that was taken: of the step under way, or of the one that is to be opened. */
  world: World | undefined
}

export interface RunScope extends ClaimedRun {
  /** Once what it marks survives a loss of power, so does the claim. */
  readonly claimed: CommitMark
  readonly calls: Map<string, OpenCall>
  /** Fingerprints of the latest calls, for the doom loop. */
  readonly recent: string[]
  readonly place: RunPlace
}

/** The time of its model. */
export function segmentOf({ segmentId, recorder }: StepScope): Segment {
  return { segmentId, until: recorder.info().time.streamed }
}
