/**
 * A run is a span, and its steps and calls are spans below it; that of a delegated task is below the call that delegates. Spans begin when
 * the journal tells of what they stand for, in the same turn, so that whoever works can hand their ids on.
 */
import { createLru } from '../../kernel/lru.js'
import type { Traces } from '../../ports/telemetry.js'
import type { TraceContext } from '../../protocol/trace-context.js'
import { isRecord } from '../../protocol/text/json.js'
import { agentSpan, type Attributes, CONTENT, ERROR, mcpOf, NOTHING, stepSpan, TOOL_ERROR, toolSpan, usageOf } from './genai.js'
import type { WatchedCall, Witness } from './witness.js'

export interface Span {
  readonly context: TraceContext
  end(at: number, attributes: Attributes, isError: boolean): void
}

export interface Tracer {
  start(span: { name: string; attributes: Attributes }, kind: 'client' | 'internal', at: number, parent: TraceContext | undefined): Span
}

interface Tracing {
  readonly run: Span
  readonly runId: string
  step: Span | undefined
  readonly calls: Map<string, Span>
}

/** Prompts whose callers have a trace, and that have no run yet. */
const ARRIVED = 1000

export function createSpans(
  tracer: Tracer,
  { contents }: { readonly contents: boolean },
): { readonly traces: Traces; readonly witness: Witness } {
  const sessions = new Map<string, Tracing>()
  /** Sessions of tasks that were delegated, with the context of the call. */
  const delegated = createLru<string, TraceContext>(ARRIVED)
  const arrived = createLru<string, TraceContext>(ARRIVED)
  const nameless = createLru<string, TraceContext>(ARRIVED)

  function parentOf(sessionId: string, promptId: string | undefined, parentId: string | undefined): TraceContext | undefined {
    const own = promptId === undefined ? undefined : arrived.get(promptId)
    if (own !== undefined) return own
    const known = delegated.get(sessionId)
    if (known !== undefined || parentId === undefined) return known
    const above = sessions.get(parentId)
    return (above?.calls.size === 1 ? [...above.calls.values()][0] : above?.run)?.context
  }

  function callEnded({ sessionId, part: { callId, state } }: WatchedCall): void {
    const tracing = sessions.get(sessionId)
    const span = tracing?.calls.get(callId)
    if (span === undefined || (state.status !== 'completed' && state.status !== 'error')) return
    tracing?.calls.delete(callId)
    const isError = state.status === 'error'
    const told = 'metadata' in state ? mcpOf(state.metadata) : NOTHING
    const more = contents ? { ...told, ...CONTENT.result(isError ? state.error : state.output) } : told
    endSpan(span, state.time.end ?? state.time.start, more, isError ? TOOL_ERROR : undefined)
  }

  return {
    traces: {
      of(sessionId, callId) {
        const tracing = sessions.get(sessionId)
        const call = callId === undefined ? undefined : tracing?.calls.get(callId)
        return (call ?? tracing?.step ?? tracing?.run)?.context
      },
      arrived(sessionId, messageId, from) {
        if (messageId === undefined) nameless.set(sessionId, from)
        else arrived.set(messageId, from)
      },
    },
    witness: {
      promptArrived(sessionId, messageId) {
        const from = nameless.get(sessionId)
        if (from === undefined) return
        nameless.delete(sessionId)
        arrived.set(messageId, from)
      },
      runStarted({ sessionId, runId, startedAt, prompt, parentId }) {
        const span = agentSpan(sessionId, runId, prompt?.agent)
        const run = tracer.start(span, 'internal', startedAt, parentOf(sessionId, prompt?.id, parentId))
        sessions.set(sessionId, { run, runId, step: undefined, calls: new Map() })
      },
      runEnded({ sessionId, runId, said }, end, at, cause) {
        const tracing = sessions.get(sessionId)
        if (tracing?.runId !== runId) return
        sessions.delete(sessionId)
        for (const open of [...tracing.calls.values(), tracing.step]) endSpan(open, at, NOTHING, 'interrupted')
        const more = { 'svc.run.end': end, ...(contents && CONTENT.asked(said())) }
        endSpan(tracing.run, at, more, end === 'completed' ? undefined : (cause ?? end))
      },
      stepStarted({ sessionId, info }) {
        const tracing = sessions.get(sessionId)
        if (tracing !== undefined) tracing.step = tracer.start(stepSpan(info), 'client', info.time.created, tracing.run.context)
      },
      stepEnded({ sessionId, info, said }) {
        const tracing = sessions.get(sessionId)
        const span = tracing?.step
        if (tracing === undefined || span === undefined) return
        tracing.step = undefined
        const { streamed, completed, created } = info.time
        const error = info.error === undefined ? undefined : info.error.interrupted === true ? 'interrupted' : 'provider_error'
        const usage = usageOf(info)
        endSpan(span, streamed ?? completed ?? created, contents ? { ...usage, ...CONTENT.said(said()) } : usage, error)
      },
      callStarted({ sessionId, part }) {
        const tracing = sessions.get(sessionId)
        const { state, callId } = part
        if (tracing === undefined || state.status !== 'running') return
        const { name, attributes } = toolSpan(part, sessionId)
        const given = contents ? { ...attributes, ...CONTENT.arguments(state.input) } : attributes
        tracing.calls.set(callId, tracer.start({ name, attributes: given }, 'internal', state.time.start, tracing.run.context))
      },
      callShown({ sessionId, part }) {
        const child = isRecord(part.metadata) ? part.metadata['sessionId'] : undefined
        const span = sessions.get(sessionId)?.calls.get(part.callId)
        if (typeof child === 'string' && span !== undefined) delegated.set(child, span.context)
      },
      callEnded,
    },
  }
}

/** `error`: what went wrong, in a word of ours. */
function endSpan(span: Span | undefined, at: number, attributes: Attributes, error: string | undefined): void {
  span?.end(at, error === undefined ? attributes : { ...attributes, [ERROR]: error }, error !== undefined)
}
