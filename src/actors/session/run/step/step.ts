/** One step of a run: what is asked of the model, and how its stream becomes parts and calls (sessions-events §4.10–4.14). */
import { behindWrites, nextTurn } from '../../../../kernel/pause.js'
import type { Stoppable, Stopping } from '../../../../kernel/stopping.js'
import { compactionOverrides } from '../../../../machines/session/compaction/window.js'
import type { Prepared, StepPlan } from '../../../../machines/session/step-plan.js'
import type { HookFailure } from '../../../../protocol/plugin/hook-failure.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { defineTools } from '../../../plugin/calls/tool-definitions.js'
import {
  type GenerateRequest,
  type ModelMessage,
  ProviderError,
  type Said,
  type StreamPart,
  type ToolDefinition,
  type WorkRequest,
} from '../../../../ports/provider-adapter.js'
import { hookRequest } from './chat-hooks.js'
import type { Rows, Work, Sources } from '../../state/core.js'
import type { Message } from '../../../../protocol/message/message.js'
import { wellFormed } from '../../../../protocol/text/well-formed.js'
import { conversationOf, leadMessages, summaryMessages } from '../../history/conversation.js'
import { acceptCall, makeGivenCalls, recordExecuted, recordResult, refuseLate, refuseMore } from '../accepting.js'
import { allowedTools, offeredTools } from '../offered-tools.js'
import { openDesk } from './desk.js'
import { openStep } from './open-step.js'
import { joinDeltas } from './joined-deltas.js'
import { isLongPrompt } from '../../admission/queue.js'
import { isNotice } from '../../../../protocol/text/runtime-marks.js'
import { delegateOf, givenSteps, stepsAsked } from '../given-steps.js'
import { modelMessages } from '../../history/request.js'
import { showEnd, storeEnd } from '../put-off.js'
import { renderPrompt } from './rendered-prompt.js'
import type { RunScope, StepScope } from '../run-scope.js'
import { type Generate, SentEarly } from '../sent-early.js'
import type { SystemContext } from '../system-context.js'
import { takeBareWorld, takeWorld, type World } from '../world.js'

/** A step that asks no model. */
const OPEN: Prepared = { tokens: 0, isDue: false }
/** Failures of hooks that a message tells, and characters of each. */
const NOTES = 16
const NOTE_LENGTH = 1000
const LAST_STEP = 'This is the last step: do not call tools any more. Summarise what was done and what is left.'
const CONTINUE = 'Your last answer was cut off by the length limit. Continue exactly where it stopped, without repeating anything.'

/**
 * Builds the request and opens the assistant message, unless it is stopped: then nothing is opened any more. Neither is it when
 * the conversation is to be compacted first. An open message of an attempt that is made anew is taken back.
 */
export async function prepareStep(
  core: Rows & Work & Sources,
  context: SystemContext,
  run: RunScope,
  { step: number, answers, wasCut, mayCompact }: StepPlan,
  stopping: Stopping,
): Promise<Prepared> {
  if (run.answering.target.obstacle !== undefined) {
    const world = await takeBareWorld(core, run)
    openStep(core, run, { world, number, answers, isLast: false, request: undefined, offered: new Map(), hookFailures: [] }, stopping)
    return OPEN
  }
  if (isLongPrompt(run.prompt)) await nextTurn()
  const world = await takeWorld(core, run, run.place.world, stopping)
  run.place.world = world
  const { target, view, policy } = world
  const { steps } = target.agent.record
  const asked = stepsAsked(run, number)
  // A worker is told what it has not heard, and reads no request.
  if (asked === 0 || target.model.worker !== undefined) {
    const delegate = delegateOf(givenSteps(run.prompt)[number - 1] ?? [])
    const opening = { world, number, answers, isLast: false, request: undefined, offered: allowedTools(world), hookFailures: [], delegate }
    openStep(core, run, opening, stopping)
    return OPEN
  }
  const isLast = steps !== undefined && steps > 0 && asked >= steps
  const offered = offeredTools(run, world)
  const defining = defineTools(view, [...offered.values()], core.effects.clock, stopping)
  const defined = defining instanceof Promise ? await defining : defining
  const rendering = renderPrompt(core.effects, world, { sessionId: run.session.id, directory: run.session.directory }, stopping)
  const rendered = rendering instanceof Promise ? await rendering : rendering
  const plain = requestOf(core, context, run, { world: rendered.world, tools: defined.definitions, isLast, wasCut })
  const looking = core.sizes.lookAt(plain)
  if (looking !== undefined) await looking
  const tokens = core.sizes.of(target.model.ref, plain)
  if (mayCompact && policy.auto && tokens >= policy.trigger) {
    storeEnd(core, run)
    return { tokens, isDue: true }
  }
  const hooking = hookRequest(world, plain, stopping)
  const { request, failures } = hooking instanceof Promise ? await hooking : hooking
  const hookFailures = notesOf(core, run, [...defined.failures, ...rendered.failures, ...failures])
  const opening = { world, number, answers, isLast, request, offered, hookFailures }
  const sent = leavesEarly(core, run, stopping) ? new SentEarly(askedBy(core, opening)) : undefined
  if (sent !== undefined) await new Promise<void>(behindWrites)
  try {
    openStep(core, run, opening, stopping)
  } catch (error) {
    sent?.work.stop()
    throw error
  }
  run.place.sent = sent
  return { tokens, isDue: false }
}

/** Whether its request leaves before the step is opened. Where it is traced it does not: its provider is told of the span of the step. */
function leavesEarly({ traces }: Pick<Sources, 'traces'>, run: RunScope, { isStopped }: Stopping): boolean {
  return run.place.step === undefined && !isStopped && traces.of(run.session.id) === undefined
}

/** What the message says of hooks that failed, which the log does as well. */
function notesOf({ effects: { log } }: Rows, run: RunScope, failures: readonly HookFailure[]): HookFailure[] {
  for (const failure of failures) log.warn('a hook failed and was ignored', { sessionId: run.session.id, runId: run.runId, ...failure })
  // Of each hook of each plugin one before any second: a hook of all tools leaves room for others.
  const ofHook = new Map(failures.toReversed().map((failure) => [`${failure.pluginId} ${failure.hook}`, failure]))
  const firsts = new Set(ofHook.values())
  const told = [...failures.filter((failure) => firsts.has(failure)), ...failures.filter((failure) => !firsts.has(failure))]
  return told.slice(0, NOTES).map((failure) => ({ ...failure, message: wellFormed(failure.message.slice(0, NOTE_LENGTH)) }))
}

function requestOf(
  core: Rows,
  context: SystemContext,
  run: RunScope,
  {
    world,
    tools,
    isLast,
    wasCut,
  }: {
    readonly world: World
    readonly tools: readonly ToolDefinition[]
    readonly isLast: boolean
    readonly wasCut: boolean
  },
): GenerateRequest {
  const { session } = run
  const { target, policy } = world
  const { record } = target.agent
  showEnd(core, run)
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
      ...context.messages(session, world, isNotice(run.prompt.system) ? undefined : run.prompt.system),
      ...summaryMessages(conversation),
      ...leadMessages(conversation, policy.keep),
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
  core: Pick<Rows & Sources, 'effects' | 'transcripts' | 'traces'>,
  run: RunScope,
  step: StepScope,
  {
    attempt,
    sent,
    onCall,
    work,
  }: {
    readonly attempt: number
    /** What was asked for it already; `work` is of that. */
    readonly sent: SentEarly | undefined
    readonly onCall: (callId: string) => void
    readonly work: Stoppable
  },
): Promise<void> {
  const { recorder } = step
  const { target } = step.world
  if (target.obstacle !== undefined) throw target.obstacle
  const generate = sent?.take ?? generateBy(core, run, step, { onCall, signal: work.signal })
  if (generate === undefined) return makeGivenCalls(run, step, onCall)
  if (attempt > 0) {
    recorder.restart()
    step.usage = undefined
  }
  const isWorker = target.model.worker !== undefined
  const most = isWorker ? LIMITS.run.callsPerTurn : LIMITS.run.callsPerStep
  const record = (part: StreamPart): void => {
    switch (part.type) {
      case 'text':
        return recorder.text(part.delta)
      case 'text-start':
        return isWorker ? recorder.textOpened() : recorder.textStarted(part.id)
      case 'text-end':
        return recorder.textEnded(part.id, part.metadata)
      case 'reasoning-start':
        return recorder.reasoningStarted(part.id)
      case 'reasoning':
        return recorder.reasoning(part.id, part.delta)
      case 'reasoning-end':
        return recorder.reasoningEnded(part.id, part.metadata)
      case 'tool-input-start':
        return recorder.calls() < most ? recorder.callStarted(part.callId, part.tool) : undefined
      case 'tool-input':
        return recorder.callInput(part.callId, part.delta)
      case 'tool-call':
        if (!recorder.knows(part.callId) && recorder.calls() >= most) return refuseMore(step, part)
        if (part.metadata !== undefined) recorder.callSaid(part.callId, { call: part.metadata })
        if (part.executed) return recordExecuted(recorder, part)
        return step.usage === undefined ? acceptCall(run, step, part, onCall) : refuseLate(run, step, part)
      case 'tool-progress':
        return recorder.knows(part.callId) ? recorder.callProgress(part.callId, part.metadata) : undefined
      case 'tool-result':
        return recordResult(recorder, part)
      case 'file':
        return recorder.fileMade(part.file)
      case 'finish':
        step.finish = part.reason
        step.usage = part.usage
        step.cost = part.cost
        return recorder.streamed()
    }
  }
  await generateInto(generate, record, work)
  if (step.usage === undefined) throw new ProviderError('The provider ended its stream without finishing the step.', { retryable: true })
}

interface AskedOf {
  readonly world: World
  readonly request: GenerateRequest
}

/** Who answers the step; undefined = nobody, it makes the calls the prompt came with. */
function generateBy(
  core: Pick<Rows, 'effects' | 'transcripts'> & Pick<Sources, 'traces'>,
  run: RunScope,
  step: StepScope,
  { onCall, signal: stopped }: { readonly onCall: (callId: string) => void; readonly signal: AbortSignal },
): Generate | undefined {
  const { worker } = step.world.target.model
  const { request, world } = step
  if (request !== undefined) return askedBy(core, { world, request })
  if (worker === undefined || stepsAsked(run, step.number) === 0) return undefined
  const desk = openDesk(core, { run, step, onCall }, stopped)
  return (push, signal) => worker.work(workOf(core, run), push, desk, signal)
}

function askedBy(core: Pick<Sources, 'traces'>, { world, request }: AskedOf): Generate {
  return (push, signal) => world.target.model.adapter.generate(traced(core, request), push, signal)
}

/** The provider is told of which trace the step is part. */
function traced({ traces }: Pick<Sources, 'traces'>, request: GenerateRequest): GenerateRequest {
  const trace = traces.of(request.sessionId)
  return trace === undefined ? request : { ...request, headers: { ...request.headers, ...trace } }
}

/** The step under way is not closed, so its message is none of the transcript. */
function workOf(
  { transcripts, traces }: Pick<Rows & Sources, 'transcripts' | 'traces'>,
  { session: { id: sessionId, directory }, prompt }: RunScope,
): WorkRequest {
  const said = transcripts.of(sessionId)
  const from = said.findLastIndex(({ info }) => info.role === 'assistant') + 1
  const since = said.slice(from)
  const texts = since.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
  const trace = traces.of(sessionId)
  return {
    sessionId,
    directory,
    ...(trace !== undefined && { trace }),
    prompt: texts.join('\n\n'),
    before: () => said.slice(0, from).map(saidIn),
    unattended: prompt.unattended === true,
  }
}

function saidIn({ info: { role }, parts }: Message): Said {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const calls = parts.flatMap((part) =>
    part.type === 'tool' ? [`${part.tool}: ${part.state.status === 'completed' ? part.state.title : part.state.status}`] : [],
  )
  return { role, text: texts.join('\n'), calls }
}

/** Generates until the stream ends or a part cannot be recorded, which ends the step whatever the adapter makes of it. */
function generateInto(generate: Generate, record: (part: StreamPart) => void, work: Stoppable): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : new Error(String(error)))
      work.stop()
    }
    const deltas = joinDeltas((part) => {
      if (!work.isStopped) record(part)
    }, fail)
    const attempt = (pass: () => void): void => {
      if (work.isStopped) return
      try {
        pass()
      } catch (error) {
        fail(error)
      }
    }
    const push = (part: StreamPart): void => attempt(() => deltas.push(part))
    generate(push, work.signal).then(
      () => {
        attempt(deltas.flush)
        resolve()
      },
      (error: unknown) => {
        attempt(deltas.flush)
        reject(error)
      },
    )
  })
}
