/**
 * What a worker asks of its session while it answers a step: calls that are judged, asked for, run and shown as those of a model, and that no
 * step follows (subsystems l.4).
 *
 * I1 A call ends with its record, or with the step.
 * I2 A call that belongs to one the worker makes itself leaves no part of its own.
 */
import type { ToolContribution, ToolResult } from '../../../../ports/plugin.js'
import type { DeskCall as Call, DeskEnd, StepDesk } from '../../../../ports/provider-adapter.js'
import type { RegisteredTool } from '../../../../ports/view.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { wellFormedValue } from '../../../../protocol/text/well-formed.js'
import type { Rows } from '../../state/core.js'
import { allowedTools } from '../offered-tools.js'
import type { CallRecorder, RunScope, StepScope } from '../run-scope.js'

interface DeskStep {
  readonly run: RunScope
  readonly step: StepScope
  readonly onCall: (callId: string) => void
}

type DeskCall = Call<ToolContribution>

const ENDED = 'The turn has ended.'

export function openDesk({ effects }: Pick<Rows, 'effects'>, desk: DeskStep, signal: AbortSignal): StepDesk<ToolContribution> {
  /** How those that have not ended are left. */
  const open = new Set<() => void>()
  const leaveAll = () => [...open].forEach((left) => left())
  signal.addEventListener('abort', leaveAll, { once: true })
  return {
    call: (call) =>
      new Promise<DeskEnd>((resolve) => {
        if (signal.aborted) return resolve({ ok: false, error: ENDED })
        const end = (how: DeskEnd): void => {
          open.delete(left)
          resolve(how)
        }
        const left = () => end({ ok: false, error: ENDED })
        open.add(left)
        const refusal = begin(desk, `desk_${effects.ids.next('prt')}`, call, end)
        if (refusal !== undefined) end({ ok: false, error: refusal })
      }),
  }
}

/** Answers why it does not begin. */
function begin({ run, step, onCall }: DeskStep, callId: string, call: DeskCall, onEnd: (how: DeskEnd) => void): string | undefined {
  const { recorder, world } = step
  const found = typeof call.tool === 'string' ? allowedTools(world).get(call.tool) : registered(call.tool)
  const tool = found && watched(found, call)
  if (tool === undefined)
    return `The rules of the session leave no tool "${typeof call.tool === 'string' ? call.tool : call.tool.id}" to it.`
  const { id } = tool.contribution
  const given = wellFormedValue(call.input)
  if (Buffer.byteLength(JSON.stringify(given)) > LIMITS.run.callBytes) return 'What is asked for is longer than 512 KiB.'
  const parsed = tool.contribution.input.safeParse(given)
  if (!parsed.success) return `What is asked for is not valid: ${parsed.error.issues[0]?.message ?? 'malformed'}.`
  const input: unknown = parsed.data
  if (call.of === undefined) {
    if (recorder.calls() >= LIMITS.run.callsPerTurn) return `A turn makes at most ${LIMITS.run.callsPerTurn} calls.`
    recorder.callSaid(callId, { executed: true })
    if (!recorder.callAccepted(callId, id, input)) return ENDED
  }
  run.calls.set(callId, {
    callId,
    world,
    tool,
    given,
    input,
    step: heard(recorder, call.of === undefined, onEnd),
    ...(call.of !== undefined && { shownAs: call.of }),
    grants: [],
    explicit: undefined,
    isOfPrompt: false,
    attempt: { tool, input, isChanged: false, view: world.view },
    asking: undefined,
  })
  onCall(callId)
  return undefined
}

/** Records, unless the call has no part, and tells how it ended. */
function heard(recorder: CallRecorder, isShown: boolean, onEnd: (how: DeskEnd) => void): CallRecorder {
  return {
    info: () => recorder.info(),
    callChanging: (callId) => (isShown ? recorder.callChanging(callId) : undefined),
    callProgress: (callId, metadata) => (isShown ? recorder.callProgress(callId, metadata) : undefined),
    callCompleted(callId, result: ToolResult) {
      if (isShown) recorder.callCompleted(callId, result)
      onEnd({ ok: true, output: result.output, metadata: result.metadata })
    },
    callFailed(callId, tool, error, input, metadata) {
      if (isShown) recorder.callFailed(callId, tool, error, input, metadata)
      onEnd({ ok: false, error, metadata })
    },
  }
}

/** The same tool, stopped and looked at by whoever calls. */
function watched(tool: RegisteredTool, { signal, onProgress }: DeskCall): RegisteredTool {
  if (signal === undefined && onProgress === undefined) return tool
  const { contribution } = tool
  return {
    ...tool,
    get open() {
      return tool.open
    },
    contribution: {
      ...contribution,
      invoke: (input, context) =>
        contribution.invoke(input, {
          ...context,
          signal: signal === undefined ? context.signal : AbortSignal.any([context.signal, signal]),
          progress(metadata) {
            onProgress?.(metadata)
            context.progress(metadata)
          },
        }),
    },
  }
}

/** A tool for one call: nothing of it is published. */
function registered(contribution: ToolContribution): RegisteredTool {
  const { id, description } = contribution
  return {
    contribution,
    definition: { id, description, parameters: {} },
    pluginId: 'dev.svc.external',
    generation: 0,
    reach: { type: 'everywhere' },
    use: (work) => work(),
    open: true,
  }
}
