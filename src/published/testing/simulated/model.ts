/** The model of a simulated world: a function answers for it. */
import { type GenerateRequest, ProviderError } from '../../../ports/provider-adapter.js'
import type { NativePlugin } from '../../../ports/plugin.js'
import type { FakeClock } from '../../../simulation/clock.js'
import { requestOf } from '../model.js'
import type { ModelRequest } from '../model-types.js'
import { calls, type PlayedStep, playedPlugin, says } from '../steps.js'
import { msOf } from './duration.js'
import type { ModelAnswer, SimulatedRequest } from './simulate-types.js'

export interface AnsweringModel {
  readonly requests: readonly ModelRequest[]
  /** For one life. */
  plugin(clock: FakeClock): NativePlugin
}

export function createAnsweringModel(answer: (request: SimulatedRequest) => ModelAnswer): AnsweringModel {
  const requests: ModelRequest[] = []
  let lastCall = 0

  function next(request: GenerateRequest, clock: FakeClock): PlayedStep {
    const noted = requestOf(request)
    requests.push(noted)
    const given = answer({ ...noted, asked: requests.length - 1 })
    const turn = typeof given === 'string' ? { says: given } : given
    return async (push, signal, asked) => {
      await passed(msOf(turn.takes ?? 0), clock, signal)
      if (turn.says !== undefined && (turn.calls !== undefined || turn.fails !== undefined)) push({ type: 'text', delta: turn.says })
      if (turn.fails !== undefined) throw new ProviderError(turn.fails, { retryable: turn.retryable ?? false })
      if (turn.calls === undefined) return says(turn.says ?? '')(push, signal, asked)
      const listed = turn.calls.map(({ tool, input = {}, callId = `call_${++lastCall}` }) => ({ tool, input, callId }))
      return calls(...listed)(push, signal, asked)
    }
  }

  return {
    requests,
    plugin: (clock) => playedPlugin({ next: (request) => next(request, clock), tools: () => [] }),
  }
}

async function passed(ms: number, clock: FakeClock, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return
  await new Promise<void>((resolve) => {
    clock.setTimeout(resolve, ms)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  signal.throwIfAborted()
}
