/** Calls of a step as they arrive: accepted, refused, or shown as what the provider did itself (threat-model 6.5.1; sessions-events §4.11). */
import { cut } from '../../../kernel/cut.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type Fault, firstFault, isLarge } from '../../../protocol/text/first-fault.js'
import { excessOf, REQUEST_BOUNDS } from '../../../protocol/text/json-bounds.js'
import { wellFormed, wellFormedValue } from '../../../protocol/text/well-formed.js'
import type { ExecutedResult, StreamPart } from '../../../ports/provider-adapter.js'
import type { RegisteredTool } from '../../../ports/view.js'
import { givenSteps } from './given-steps.js'
import type { StepRecorder } from './record/recorder.js'
import type { OpenCall, RunScope, StepScope } from './run-scope.js'

/** Faults of an input that are told, and characters of each. */
const FAULTS = 8
const FAULT_LENGTH = 500
const LATE = 'The call came after the end of the answer, so nothing was run. Call again if it is needed.'
const TOO_MANY = `A step has at most ${LIMITS.run.callsPerStep} tool calls; this one and those after it were not run. Call again in the next step.`
/** Names that models give tools of ours (sessions-events §4.9). */
const ALIASES: Readonly<Record<string, string>> = { patch: 'apply_patch' }
const NOT_JSON = 'they are not JSON. Nothing was run; call it again with one whole JSON object.'

type ToolCallPart = Extract<StreamPart, { type: 'tool-call' }>

/** Each is accepted, judged and executed as if a model had asked for it. */
export function makeGivenCalls(run: RunScope, step: StepScope, onCall: (callId: string) => void): void {
  const { noReply } = run.prompt
  const calls = givenSteps(run.prompt)[step.number - 1] ?? []
  for (const [index, { tool, input, explicit }] of calls.entries()) {
    const call = { type: 'tool-call' as const, callId: `${step.recorder.info().id}_${index}`, tool, input: JSON.stringify(input) }
    acceptCall(run, step, call, onCall, { explicit })
  }
  step.finish = noReply ? 'stop' : 'tool-calls'
  step.recorder.streamed()
}

/** A call the provider makes itself: it is shown, and nothing of it is judged or run here (sessions-events §4.11). */
export function recordExecuted(recorder: StepRecorder, { callId, tool, input }: ToolCallPart): void {
  recorder.callSaid(callId, { executed: true })
  recorder.callAccepted(callId, tool, rawInput(input))
}

export function recordResult(recorder: StepRecorder, { callId, tool, output, isError, metadata, shown }: ExecutedResult): void {
  if (!recorder.knows(callId)) return
  if (metadata !== undefined) recorder.callSaid(callId, { result: metadata })
  const text = wellFormed(shown?.text ?? JSON.stringify(output) ?? 'null')
  if (isError) recorder.callFailed(callId, tool, text, undefined, shown?.metadata)
  else recorder.callCompleted(callId, { output: text, title: shown?.title ?? tool, ...(shown?.metadata && { metadata: shown.metadata }) })
}

/** What the provider sends after its terminal part is no part of its answer (threat-model 6.5.1). */
export function refuseLate(run: RunScope, { recorder }: StepScope, { callId, tool, input }: ToolCallPart): void {
  if (!run.calls.has(callId)) recorder.callFailed(callId, tool, LATE, isTooLong(input) ? undefined : rawInput(input))
}

/** The first call beyond those a step may have is answered, the others leave no trace. */
export function refuseMore({ recorder }: StepScope, { callId, tool }: ToolCallPart): void {
  if (recorder.calls() === LIMITS.run.callsPerStep) recorder.callFailed(callId, tool, TOO_MANY)
}

/** A call is executed only when its tool was offered and its arguments are complete and valid (threat-model 6.5.1). */
export function acceptCall(
  run: RunScope,
  step: StepScope,
  call: ToolCallPart,
  onCall: (callId: string) => void,
  ofPrompt?: { readonly explicit: string | undefined },
): void {
  const { callId, tool: name } = call
  const isOfPrompt = ofPrompt !== undefined
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
    given === undefined
      ? { problem: excess === undefined ? NOT_JSON : `they are JSON that ${excess}.` }
      : parseInput(tool, given.json, isOfPrompt)
  if ('problem' in parsed)
    return recorder.callFailed(callId, name, `The arguments of "${name}" are not valid: ${parsed.problem}`, rawInput(call.input))
  if (step.isLast) return recorder.callFailed(callId, name, 'The step limit is reached, so no more tools are called.', parsed.input)
  if (!recorder.callAccepted(callId, name, parsed.input)) return
  const attempt = { tool, input: parsed.input, isChanged: false, view: step.world.view }
  run.calls.set(callId, {
    callId,
    world: step.world,
    tool,
    given: given?.json,
    input: parsed.input,
    step: recorder,
    grants: [],
    explicit: ofPrompt?.explicit,
    isOfPrompt,
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

/** The input by the schema of the tool, or what is wrong with it. */
function parseInput(
  { contribution }: RegisteredTool,
  json: unknown,
  isOfPrompt: boolean,
): { readonly input: unknown } | { readonly problem: string } {
  const input = (isOfPrompt ? contribution.ofPrompt : undefined) ?? contribution.input
  const fault = isLarge(json) ? firstFault(input, json) : undefined
  if (fault !== undefined) return { problem: told(fault) }
  const result = input.safeParse(json)
  return result.success ? { input: result.data } : { problem: result.error.issues.slice(0, FAULTS).map(told).join('; ') }
}

function told({ path, message }: Fault): string {
  const text = `${path.join('.') || 'input'}: ${message}`
  return cut(text, FAULT_LENGTH)
}

/** What hooks made of an input, by the schema of the tool; throws what is wrong with it. */
export function hookedInput({ tool, isOfPrompt }: Pick<OpenCall, 'tool' | 'isOfPrompt'>, json: unknown): unknown {
  const name = tool.contribution.id
  if (Buffer.byteLength(JSON.stringify(json) ?? '') > LIMITS.run.callBytes)
    throw new SvcError('request.invalid', `The arguments of "${name}" became longer than 512 KiB.`)
  const parsed = parseInput(tool, json, isOfPrompt)
  if ('problem' in parsed) throw new SvcError('request.invalid', `The arguments of "${name}" are not valid any more: ${parsed.problem}`)
  return parsed.input
}
