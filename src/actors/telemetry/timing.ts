/** How long runs, steps and calls took, one line of the log each: `SVC_AGENT_PERF_LOG` (subsystems n). */
import type { Log } from '../../ports/effects.js'
import type { Witness } from './witness.js'

export function timing(log: Pick<Log, 'info'>): Witness {
  return {
    runEnded({ sessionId, runId, startedAt }, end, at) {
      log.info('perf', { what: 'run', sessionId, runId, end, ms: at - startedAt })
    },
    stepEnded({ sessionId, info: { id, providerId, modelId, time, tokens } }) {
      const ms = (time.streamed ?? time.completed ?? time.created) - time.created
      log.info('perf', {
        what: 'step',
        sessionId,
        messageId: id,
        model: `${providerId}/${modelId}`,
        ms,
        input: tokens.input,
        output: tokens.output,
      })
    },
    callEnded({ sessionId, part: { callId, tool, state } }) {
      if (state.status !== 'completed' && state.status !== 'error') return
      log.info('perf', {
        what: 'tool',
        sessionId,
        callId,
        tool,
        end: state.status,
        ms: (state.time.end ?? state.time.start) - state.time.start,
      })
    },
  }
}
