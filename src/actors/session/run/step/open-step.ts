/** The assistant message of a step is opened: by a step that asks a model, or one that makes the calls the prompt came with. */
import type { Stopping } from '../../../../kernel/stopping.js'
import type { HookFailure } from '../../../../protocol/plugin/hook-failure.js'
import type { AssistantInfo } from '../../../../protocol/message/message.js'
import { ZERO_USAGE } from '../../../../protocol/message/token-usage.js'
import type { RegisteredTool } from '../../../../ports/view.js'
import type { GenerateRequest } from '../../../../ports/provider-adapter.js'
import type { Rows, Work } from '../../state/core.js'
import { beginStep } from '../record/recorder.js'
import { storeEndIn } from '../put-off.js'
import { type RunScope, segmentOf, type StepScope } from '../run-scope.js'
import type { World } from '../world.js'

interface Opening {
  readonly world: World
  readonly number: number
  readonly isLast: boolean
  /** See `StepScope`. */
  readonly request: GenerateRequest | undefined
  readonly offered: ReadonlyMap<string, RegisteredTool>
  readonly hookFailures: HookFailure[]
  /** The user message it answers, where that is not the prompt of the run: a steering prompt that joined. */
  readonly answers: string | undefined
  /** The agent that the calls of the step delegate to (sessions-events §3.3). */
  readonly delegate?: string | undefined
}

/** An open message of an attempt that is made anew is taken back. Nothing is opened once it is stopped. */
export function openStep(core: Rows & Work, run: RunScope, opening: Opening, stopping: Stopping): void {
  const { session } = run
  const { target, project } = opening.world
  const { hookFailures, delegate, answers, ...opened } = opening
  if (stopping.isStopped) stopping.signal.throwIfAborted()
  const info: AssistantInfo = {
    role: 'assistant',
    id: core.effects.ids.next('msg'),
    sessionId: session.id,
    time: { created: core.effects.clock.now() },
    parentId: answers ?? run.prompt.messageId,
    mode: delegate ?? target.agent.record.mode,
    agent: delegate ?? target.agent.record.name,
    path: { cwd: session.directory, root: project.worktree ?? session.directory },
    cost: 0,
    tokens: ZERO_USAGE,
    modelId: target.model.ref.id,
    providerId: target.model.ref.providerId,
    ...(hookFailures.length > 0 && { metadata: { hookFailures } }),
  }
  const segmentId = core.effects.ids.next('evt')
  const recorder = core.journal.commit('process', (tx) => {
    const { step: before, ending } = run.place
    storeEndIn(tx, run)
    before?.recorder.discard(tx)
    const recording = beginStep(core, tx, info)
    core.executions.startSegment(tx, run.rootId, segmentId, ending && before && segmentOf(before))
    return recording
  })
  const step: StepScope = { ...opened, recorder, segmentId, finish: 'error', usage: undefined }
  run.place.step = step
  run.calls.clear()
}
