/** One step of a run: what is asked of the model, and how its stream becomes parts and calls (sessions-events §4.10–4.14). */
import { isToolOffered } from '../../machines/permission.js'
import type { StepFailure } from '../../machines/retry.js'
import { SvcError } from '../../protocol/errors.js'
import { type AssistantInfo, ZERO_USAGE } from '../../protocol/message.js'
import type { RegisteredTool } from '../plugin/registry.js'
import { type GenerateRequest, type ModelMessage, ProviderError, type StreamPart } from '../provider/adapter.js'
import type { SessionCore } from './core.js'
import { beginStep } from './recorder.js'
import { modelMessages } from './request.js'
import { type RunScope, type StepScope, trustedRules } from './run-scope.js'
import type { SystemContext } from './system-context.js'

const MAX_OUTPUT = 32_000
const LAST_STEP = 'This is the last step: do not call tools any more. Summarise what was done and what is left.'
const CONTINUE = 'Your last answer was cut off by the length limit. Continue exactly where it stopped, without repeating anything.'

/** Builds the request and opens the assistant message. */
export async function prepareStep(core: SessionCore, context: SystemContext, run: RunScope, number: number): Promise<StepScope> {
  const { target, session } = run
  const { steps } = target.agent.record
  const isLast = steps !== undefined && steps > 0 && number >= steps
  const offered = offeredTools(core, run)
  const project = await core.projects.identify(session.directory)
  const info: AssistantInfo = {
    role: 'assistant',
    id: core.effects.ids.next('msg'),
    sessionId: session.id,
    time: { created: core.effects.clock.now() },
    parentId: run.messageId,
    mode: target.agent.record.mode,
    agent: target.agent.record.name,
    path: { cwd: session.directory, root: project.worktree ?? session.directory },
    cost: 0,
    tokens: ZERO_USAGE,
    modelId: target.model.ref.id,
    providerId: target.model.ref.providerId,
  }
  const segmentId = core.effects.ids.next('evt')
  const request = requestOf(core, context, run, offered, isLast)
  const recorder = core.journal.commit('process', (tx) => {
    const opened = beginStepEvents(core, tx, info)
    core.executions.startSegment(tx, run.rootId, segmentId)
    return opened
  })
  const step: StepScope = { number, isLast, request, offered, recorder, segmentId, finish: 'error', usage: undefined }
  run.step = step
  run.calls.clear()
  return step
}

function beginStepEvents(core: SessionCore, tx: Parameters<typeof beginStep>[1], info: AssistantInfo) {
  tx.emit('message.updated', { sessionID: info.sessionId, info })
  return beginStep(core, tx, info)
}

function offeredTools(core: SessionCore, run: RunScope): ReadonlyMap<string, RegisteredTool> {
  if (run.target.model.model.capabilities['toolCall'] === false) return new Map()
  const rules = trustedRules(run)
  const { narrowing } = run.target.agent
  const offered = core.registry.tools().filter(({ contribution: { id, permission } }) => {
    const visible = isToolOffered(rules, permission) && isToolOffered(narrowing, permission)
    return visible && (id === permission || (isToolOffered(rules, id) && isToolOffered(narrowing, id)))
  })
  return new Map(offered.map((tool) => [tool.contribution.id, tool]))
}

function requestOf(
  core: SessionCore,
  context: SystemContext,
  run: RunScope,
  offered: ReadonlyMap<string, RegisteredTool>,
  isLast: boolean,
): GenerateRequest {
  const { session, target } = run
  const { record } = target.agent
  const extras: ModelMessage[] = []
  if (run.wasCut) extras.push({ role: 'user', content: [{ type: 'text', text: CONTINUE }] })
  if (isLast) extras.push({ role: 'assistant', content: [{ type: 'text', text: LAST_STEP }] })
  const { output } = target.model.model.limit
  return {
    sessionId: session.id,
    directory: session.directory,
    model: target.model.ref,
    messages: [
      ...context.messages(session, target, run.prompt.system),
      ...modelMessages(core.transcripts.of(session.id), target.model.ref),
      ...extras,
    ],
    tools: [...offered.values()].map((tool) => tool.definition),
    options: { ...target.model.options, ...record.options },
    ...(record.temperature === undefined ? {} : { temperature: record.temperature }),
    ...(record.topP === undefined ? {} : { topP: record.topP }),
    ...(output > 0 ? { maxOutputTokens: Math.min(output, MAX_OUTPUT) } : {}),
  }
}

/** Streams the step into its recorder; `onCall` hears of every call that may be executed. */
export async function streamStep(
  run: RunScope,
  step: StepScope,
  attempt: number,
  onCall: (callId: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (attempt > 0) step.recorder.restart()
  const { recorder } = step
  const push = (part: StreamPart): void => {
    if (signal.aborted) return
    switch (part.type) {
      case 'text':
        return recorder.text(part.delta)
      case 'reasoning-start':
        return recorder.reasoningStarted(part.id)
      case 'reasoning':
        return recorder.reasoning(part.id, part.delta)
      case 'reasoning-end':
        return recorder.reasoningEnded(part.id, part.metadata)
      case 'tool-input-start':
        return recorder.callStarted(part.callId, part.tool)
      case 'tool-input':
        return recorder.callInput(part.callId, part.delta)
      case 'tool-call':
        return acceptCall(run, step, part, onCall)
      case 'finish':
        step.finish = part.reason
        step.usage = part.usage
        return recorder.streamed()
    }
  }
  await run.target.model.adapter.generate(step.request, push, signal)
  if (step.usage === undefined) throw new ProviderError('The provider ended its stream without finishing the step.', { retryable: true })
}

/** A call is executed only when its tool was offered and its arguments are complete and valid (threat-model 6.5.1). */
function acceptCall(
  run: RunScope,
  step: StepScope,
  call: { callId: string; tool: string; input: string },
  onCall: (callId: string) => void,
): void {
  const { callId, tool: name } = call
  if (run.calls.has(callId)) return
  const { recorder } = step
  const tool = step.offered.get(name)
  if (tool === undefined) {
    const known = [...step.offered.keys()].join(', ')
    return recorder.callFailed(
      callId,
      name,
      `There is no tool "${name}". Available tools: ${known === '' ? 'none' : known}.`,
      rawInput(call.input),
    )
  }
  const parsed = parseInput(tool, call.input)
  if ('problem' in parsed)
    return recorder.callFailed(callId, name, `The arguments of "${name}" are not valid: ${parsed.problem}`, rawInput(call.input))
  if (step.isLast) return recorder.callFailed(callId, name, 'The step limit is reached, so no more tools are called.', parsed.input)
  recorder.callAccepted(callId, name, parsed.input)
  run.calls.set(callId, { callId, tool, input: parsed.input, step: recorder, grants: [], asking: undefined })
  onCall(callId)
}

function parseInput(tool: RegisteredTool, text: string): { input: unknown } | { problem: string } {
  let json: unknown
  try {
    json = JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    return { problem: 'they are not JSON.' }
  }
  const result = tool.contribution.input.safeParse(json)
  if (result.success) return { input: result.data }
  return { problem: result.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`).join('; ') }
}

function rawInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { raw: text }
  }
}

/** Any rejection of a stream as the run machine's failure. */
export function stepFailure(error: unknown): StepFailure {
  if (error instanceof ProviderError) {
    const code = error.overflow ? 'context.overflow' : 'provider.failed'
    return { code, message: error.message, retryable: error.retryable, retryAfterMs: error.retryAfterMs }
  }
  if (error instanceof SvcError) return { code: error.code, message: error.message, retryable: false }
  return { code: 'server.internal', message: error instanceof Error ? error.message : String(error), retryable: false }
}
