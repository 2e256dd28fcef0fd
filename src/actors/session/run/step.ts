/** One step of a run: what is asked of the model, and how its stream becomes parts and calls (sessions-events §4.10–4.14). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compactionOverrides } from '../../../machines/session/compaction/window.js'
import type { HookFailure } from '../../../protocol/plugin/hook-failure.js'
import { excessOf, REQUEST_BOUNDS } from '../../../protocol/text/json-bounds.js'
import { LIMITS } from '../../../protocol/limits.js'
import { defineTools } from '../../plugin/calls/tool-definitions.js'
import {
  type ExecutedResult,
  type GenerateRequest,
  type ModelMessage,
  ProviderError,
  type StreamPart,
  type ToolDefinition,
} from '../../../ports/provider-adapter.js'
import { hookRequest } from './chat-hooks.js'
import type { SessionCore } from '../state/core.js'
import { wellFormed, wellFormedValue } from '../../../protocol/text/well-formed.js'
import { compactionPolicy } from '../compaction/compaction-policy.js'
import { conversationOf, leadMessages, summaryMessages } from '../history/conversation.js'
import { parseInput } from './attempt.js'
import { allowedTools, offeredTools } from './offered-tools.js'
import { openStep } from './open-step.js'
import { joinDeltas } from './joined-deltas.js'
import { targetOfStep } from '../admission/append.js'
import { isLongPrompt } from '../admission/queue.js'
import type { StepRecorder } from './recorder.js'
import { isNotice } from '../state/runtime-marker.js'
import { delegateOf, givenSteps } from './given-steps.js'
import { modelMessages } from '../history/request.js'
import { rulesOf, type RunScope, type StepScope, stepsAsked } from './run-scope.js'
import { refreshRules } from './rules-now.js'
import type { SystemContext } from './system-context.js'

/** Failures of hooks that a message tells, and characters of each. */
const NOTES = 16
const NOTE_LENGTH = 1000
const LAST_STEP = 'This is the last step: do not call tools any more. Summarise what was done and what is left.'
const LATE = 'The call came after the end of the answer, so nothing was run. Call again if it is needed.'
const TOO_MANY = `A step has at most ${LIMITS.run.callsPerStep} tool calls; this one and those after it were not run. Call again in the next step.`
/** Names that models give tools of ours (sessions-events §4.9). */
const ALIASES: Readonly<Record<string, string>> = { patch: 'apply_patch' }
const NOT_JSON = 'they are not JSON. Nothing was run; call it again with one whole JSON object.'
const CONTINUE = 'Your last answer was cut off by the length limit. Continue exactly where it stopped, without repeating anything.'

/**
 * Builds the request and opens the assistant message, unless `signal` has aborted: then nothing is opened any more. Neither is it when
 * the conversation is to be compacted first. An open message of an attempt that is made anew is taken back.
 */
export async function prepareStep(
  core: SessionCore,
  context: SystemContext,
  run: RunScope,
  { step: number, wasCut, mayCompact }: { readonly step: number; readonly wasCut: boolean; readonly mayCompact: boolean },
  signal: AbortSignal,
): Promise<StepScope | 'due'> {
  const { session } = run
  if (run.target.obstacle !== undefined)
    return openStep(core, run, { number, isLast: false, request: undefined, offered: new Map(), hookFailures: [] }, signal)
  Object.assign(run, await targetOfStep(core, { ...run, sessionId: session.id }))
  await refreshRules(core, run)
  const { target } = run
  const { steps } = target.agent.record
  if (isLongPrompt(run.prompt)) await nextTurn()
  const view = await core.plugins.prepared(session.directory, session.id, signal, rulesOf(run))
  const asked = stepsAsked(run, number)
  if (asked === 0) {
    const delegate = delegateOf(givenSteps(run.prompt)[number - 1] ?? [])
    const opening = { number, isLast: false, request: undefined, offered: allowedTools(run, view), hookFailures: [], delegate }
    return openStep(core, run, opening, signal)
  }
  const isLast = steps !== undefined && steps > 0 && asked >= steps
  const offered = offeredTools(run, view)
  const defined = await defineTools(view, [...offered.values()], { clock: core.effects.clock, signal })
  const policy = await compactionPolicy(core, session.directory, target)
  run.policy = policy
  const plain = requestOf(core, context, run, { tools: defined.definitions, isLast, wasCut })
  await core.sizes.lookAt(plain)
  run.size = core.sizes.of(target.model.ref, plain)
  if (mayCompact && policy.auto && run.size >= policy.trigger) return 'due'
  const { request, failures } = await hookRequest(run, view, plain, signal)
  const hookFailures = notesOf(core, run, [...defined.failures, ...failures])
  return openStep(core, run, { number, isLast, request, offered, hookFailures }, signal)
}

/** What the message says of hooks that failed, which the log does as well. */
function notesOf({ effects: { log } }: SessionCore, run: RunScope, failures: readonly HookFailure[]): HookFailure[] {
  for (const failure of failures) log.warn('a hook failed and was ignored', { sessionId: run.session.id, runId: run.runId, ...failure })
  // Of each hook of each plugin one before any second: a hook of all tools leaves room for others.
  const ofHook = new Map(failures.toReversed().map((failure) => [`${failure.pluginId} ${failure.hook}`, failure]))
  const firsts = new Set(ofHook.values())
  const told = [...failures.filter((failure) => firsts.has(failure)), ...failures.filter((failure) => !firsts.has(failure))]
  return told.slice(0, NOTES).map((failure) => ({ ...failure, message: wellFormed(failure.message.slice(0, NOTE_LENGTH)) }))
}

function requestOf(
  core: SessionCore,
  context: SystemContext,
  run: RunScope,
  { tools, isLast, wasCut }: { readonly tools: readonly ToolDefinition[]; readonly isLast: boolean; readonly wasCut: boolean },
): GenerateRequest {
  const { session, target } = run
  const { record } = target.agent
  const conversation = conversationOf(core.transcripts.of(session.id))
  const extras: ModelMessage[] = []
  if (wasCut) extras.push({ role: 'user', content: [{ type: 'text', text: CONTINUE }] })
  if (isLast) extras.push({ role: 'assistant', content: [{ type: 'text', text: LAST_STEP }] })
  const { output } = target.model.model.limit
  return {
    sessionId: session.id,
    directory: session.directory,
    model: target.model.ref,
    messages: [
      ...context.messages(session, target, isNotice(run.prompt.system) ? undefined : run.prompt.system),
      ...summaryMessages(conversation),
      ...leadMessages(conversation, run.policy?.keep ?? 0),
      ...modelMessages(conversation.messages, target.model.ref),
      ...extras,
    ],
    tools,
    options: { ...target.model.options, ...record.options },
    ...(record.temperature === undefined ? {} : { temperature: record.temperature }),
    ...(record.topP === undefined ? {} : { topP: record.topP }),
    ...(output > 0 ? { maxOutputTokens: Math.min(output, compactionOverrides(core.effects.env).maxOutput) } : {}),
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
  const { recorder, request } = step
  if (run.target.obstacle !== undefined) throw run.target.obstacle
  if (request === undefined) return makeGivenCalls(run, step, onCall)
  if (attempt > 0) {
    recorder.restart()
    step.usage = undefined
  }
  const record = (part: StreamPart): void => {
    switch (part.type) {
      case 'text':
        return recorder.text(part.delta)
      case 'text-start':
        return recorder.textStarted(part.id)
      case 'text-end':
        return recorder.textEnded(part.id, part.metadata)
      case 'reasoning-start':
        return recorder.reasoningStarted(part.id)
      case 'reasoning':
        return recorder.reasoning(part.id, part.delta)
      case 'reasoning-end':
        return recorder.reasoningEnded(part.id, part.metadata)
      case 'tool-input-start':
        return recorder.calls < LIMITS.run.callsPerStep ? recorder.callStarted(part.callId, part.tool) : undefined
      case 'tool-input':
        return recorder.callInput(part.callId, part.delta)
      case 'tool-call':
        if (!recorder.knows(part.callId) && recorder.calls >= LIMITS.run.callsPerStep) return refuseMore(step, part)
        if (part.metadata !== undefined) recorder.callSaid(part.callId, { call: part.metadata })
        if (part.executed) return recordExecuted(recorder, part)
        return step.usage === undefined ? acceptCall(run, step, part, onCall) : refuseLate(run, step, part)
      case 'tool-result':
        return recordResult(recorder, part)
      case 'finish':
        step.finish = part.reason
        step.usage = part.usage
        return recorder.streamed()
    }
  }
  await generateInto(run, request, record, signal)
  if (step.usage === undefined) throw new ProviderError('The provider ended its stream without finishing the step.', { retryable: true })
}

/** Generates until the stream ends or a part cannot be recorded, which ends the step whatever the adapter makes of it. */
async function generateInto(
  run: RunScope,
  request: GenerateRequest,
  record: (part: StreamPart) => void,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  const abort = () => stop.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown): void => {
        reject(error instanceof Error ? error : new Error(String(error)))
        stop.abort()
      }
      const deltas = joinDeltas((part) => {
        if (!stop.signal.aborted && !signal.aborted) record(part)
      }, fail)
      const attempt = (work: () => void): void => {
        if (stop.signal.aborted || signal.aborted) return
        try {
          work()
        } catch (error) {
          fail(error)
        }
      }
      const push = (part: StreamPart): void => attempt(() => deltas.push(part))
      const generated = run.target.model.adapter.generate(request, push, stop.signal)
      generated.finally(() => attempt(deltas.flush)).then(resolve, reject)
    })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Each is accepted, judged and executed as if a model had asked for it. */
function makeGivenCalls(run: RunScope, step: StepScope, onCall: (callId: string) => void): void {
  const { noReply } = run.prompt
  const calls = givenSteps(run.prompt)[step.number - 1] ?? []
  for (const [index, { tool, input, explicit }] of calls.entries()) {
    const call = { type: 'tool-call' as const, callId: `${step.recorder.info.id}_${index}`, tool, input: JSON.stringify(input) }
    acceptCall(run, step, call, onCall, explicit)
  }
  step.finish = noReply ? 'stop' : 'tool-calls'
  step.recorder.streamed()
}

/** A call the provider makes itself: it is shown, and nothing of it is judged or run here (sessions-events §4.11). */
function recordExecuted(recorder: StepRecorder, { callId, tool, input }: ToolCallPart): void {
  recorder.callSaid(callId, { executed: true })
  recorder.callAccepted(callId, tool, rawInput(input))
}

function recordResult(recorder: StepRecorder, { callId, tool, output, isError, metadata }: ExecutedResult): void {
  if (!recorder.knows(callId)) return
  if (metadata !== undefined) recorder.callSaid(callId, { result: metadata })
  const text = wellFormed(JSON.stringify(output) ?? 'null')
  if (isError) recorder.callFailed(callId, tool, text)
  else recorder.callCompleted(callId, { output: text, title: tool })
}

type ToolCallPart = Extract<StreamPart, { type: 'tool-call' }>

/** What the provider sends after its terminal part is no part of its answer (threat-model 6.5.1). */
function refuseLate(run: RunScope, { recorder }: StepScope, { callId, tool, input }: ToolCallPart): void {
  if (!run.calls.has(callId)) recorder.callFailed(callId, tool, LATE, isTooLong(input) ? undefined : rawInput(input))
}

/** The first call beyond those a step may have is answered, the others leave no trace. */
function refuseMore({ recorder }: StepScope, { callId, tool }: ToolCallPart): void {
  if (recorder.calls === LIMITS.run.callsPerStep) recorder.callFailed(callId, tool, TOO_MANY)
}

/** A call is executed only when its tool was offered and its arguments are complete and valid (threat-model 6.5.1). */
function acceptCall(run: RunScope, step: StepScope, call: ToolCallPart, onCall: (callId: string) => void, explicit?: string): void {
  const { callId, tool: name } = call
  if (run.calls.has(callId)) return
  const { recorder } = step
  if (isTooLong(call.input))
    return recorder.callFailed(callId, name, 'The arguments are longer than 512 KiB. Split the call into smaller ones.')
  const tool = step.offered.get(name) ?? step.offered.get(ALIASES[name] ?? '')
  if (tool === undefined) {
    const known = [...step.offered.keys()].join(', ')
    return recorder.callFailed(
      callId,
      name,
      `There is no tool "${name}". Available tools: ${known === '' ? 'none' : known}.`,
      rawInput(call.input),
    )
  }
  const excess = excessOf(Buffer.from(call.input), REQUEST_BOUNDS)
  const given = excess === undefined ? readJson(call.input) : undefined
  const parsed =
    given === undefined ? { problem: excess === undefined ? NOT_JSON : `they are JSON that ${excess}.` } : parseInput(tool, given.json)
  if ('problem' in parsed)
    return recorder.callFailed(callId, name, `The arguments of "${name}" are not valid: ${parsed.problem}`, rawInput(call.input))
  if (step.isLast) return recorder.callFailed(callId, name, 'The step limit is reached, so no more tools are called.', parsed.input)
  if (!recorder.callAccepted(callId, name, parsed.input)) return
  const attempt = { tool, input: parsed.input, isChanged: false }
  run.calls.set(callId, {
    callId,
    tool,
    given: given?.json,
    input: parsed.input,
    step: recorder,
    grants: [],
    explicit,
    attempt,
    asking: undefined,
  })
  onCall(callId)
}

function isTooLong(input: string): boolean {
  return Buffer.byteLength(JSON.stringify(input)) > LIMITS.run.callBytes
}

function readJson(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: wellFormedValue(JSON.parse(text.trim() === '' ? '{}' : text)) }
  } catch {
    return undefined
  }
}

function rawInput(text: string): unknown {
  const isShown = text.trim() !== '' && excessOf(Buffer.from(text), REQUEST_BOUNDS) === undefined
  const read = isShown ? readJson(text) : undefined
  return read === undefined ? { raw: wellFormed(text) } : read.json
}
