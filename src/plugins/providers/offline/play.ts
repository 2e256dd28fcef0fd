import { ProviderError } from '../../../ports/provider-adapter.js'
import type { ScriptError, ScriptTurn } from './script.js'
import type { Voice } from './voice.js'

/** Plays one model step of a script; `failures` counts how often an error of this very request was played. */
export async function playTurn(turn: ScriptTurn, voice: Voice, failures: (errorIndex: number) => number): Promise<void> {
  for (const [index, step] of turn.entries()) {
    if (step.delayMs !== undefined) await voice.pause(step.delayMs)
    if (step.error !== undefined && failures(index) < (step.error.times ?? Number.POSITIVE_INFINITY)) throw failure(step.error)
    if (step.reasoning !== undefined) await voice.think(step.reasoning, step)
    if (step.text !== undefined) await voice.say(step.text, step)
    if (step.tool !== undefined) await voice.call(step.tool, step.input)
  }
  voice.finish(turn.at(-1)?.finish ?? (turn.some((step) => step.tool !== undefined) ? 'tool-calls' : 'stop'))
}

function failure({ message, status, retryable, retryAfterMs, overflow }: ScriptError): ProviderError {
  const passing = status !== undefined && (status === 408 || status === 429 || status >= 500)
  const text = status === undefined ? message : `Provider "svc" answered ${status}: ${message}`
  return new ProviderError(text, { retryable: retryable ?? passing, retryAfterMs, overflow: overflow ?? false })
}
