/** What happens to sessions, counted. */
import type { AssistantInfo } from '../../protocol/message/message.js'
import type { Meter } from './registry.js'
import type { WatchedCall, Witness } from './witness.js'

export function counting(meter: Meter): Witness {
  return {
    runEnded({ startedAt }, end, at, cause) {
      meter.add('svc_runs_total', { end })
      meter.observe('svc_run_duration_seconds', {}, (at - startedAt) / 1000)
      if (cause !== undefined) meter.add('svc_errors_total', { code: cause })
    },
    stepRetried: () => meter.add('svc_model_retries_total', {}),
    stepEnded: ({ info }) => countStep(meter, info),
    callEnded: (call) => countCall(meter, call),
    compacted: (end) => meter.add('svc_compactions_total', { end }),
    asked: (kind) => meter.add('svc_requests_asked_total', { kind }),
    answered: (kind, reply) => meter.add('svc_requests_answered_total', { kind, reply }),
  }
}

function countStep(meter: Meter, { providerId, modelId, time, finish, tokens, cost }: AssistantInfo): void {
  const model = { provider: providerId, model: modelId }
  meter.add('svc_model_calls_total', { ...model, finish: finish ?? 'other' })
  meter.observe('svc_model_call_duration_seconds', model, ((time.streamed ?? time.completed ?? time.created) - time.created) / 1000)
  const { input, output, reasoning, cache } = tokens
  const kinds = { input, output, reasoning, cache_read: cache.read, cache_write: cache.write }
  for (const [kind, count] of Object.entries(kinds)) if (count > 0) meter.add('svc_model_tokens_total', { ...model, kind }, count)
  if (cost > 0) meter.add('svc_model_cost_dollars_total', model, cost)
}

function countCall(meter: Meter, { part: { tool, state } }: WatchedCall): void {
  if (state.status !== 'completed' && state.status !== 'error') return
  meter.add('svc_tool_calls_total', { tool, end: state.status })
  const { start, end } = state.time
  meter.observe('svc_tool_call_duration_seconds', { tool }, ((end ?? start) - start) / 1000)
}
