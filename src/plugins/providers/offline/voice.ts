/** How the offline model streams: small deltas, waits that obey abort, and an honest estimate of tokens. */
import { sleep } from '../../../kernel/patience.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { type GenerateRequest, ProviderError, type StreamPart } from '../../../ports/provider-adapter.js'

type Clock = NativeHost['effects']['clock']

interface Pace {
  /** Characters of a delta; undefined = a word. */
  readonly chunk?: number | undefined
  /** Wait between deltas, ms. */
  readonly gapMs?: number | undefined
  readonly repeat?: number | undefined
}

export interface Voice {
  say(text: string, pace?: Pace): Promise<void>
  think(text: string, pace?: Pace): Promise<void>
  /** A string is sent as it is, anything else as JSON. */
  call(tool: string, input: unknown): Promise<void>
  pause(ms: number): Promise<void>
  finish(reason: string): void
}

/** Deltas sent in one go before others get their turn. */
const BREATH = 256

/** A voice for one model step; every method rejects once `signal` is aborted, and nothing is pushed then. */
export function createVoice(
  request: GenerateRequest,
  push: (part: StreamPart) => void,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Voice {
  let characters = 0
  let thoughts = 0
  let calls = 0
  const send = (part: StreamPart) => {
    if (signal.aborted) throw aborted(signal)
    push(part)
  }
  const stream = async (text: string, pace: Pace, deltaOf: (delta: string) => StreamPart) => {
    const pieces = cut(text, pace.chunk)
    let sent = 0
    for (let round = 0; round < (pace.repeat ?? 1); round++) {
      for (const piece of pieces) {
        if (sent > 0 && pace.gapMs !== undefined) await rest(clock, pace.gapMs, signal)
        else if (sent > 0 && sent % BREATH === 0) await rest(clock, 0, signal)
        send(deltaOf(piece))
        characters += piece.length
        sent++
      }
    }
  }
  return {
    say: (text, pace = {}) => stream(text, pace, (delta) => ({ type: 'text', delta })),
    async think(text, pace = {}) {
      const id = `reasoning-${thoughts++}`
      send({ type: 'reasoning-start', id })
      await stream(text, pace, (delta) => ({ type: 'reasoning', id, delta }))
      send({ type: 'reasoning-end', id })
    },
    async call(tool, input) {
      const callId = `call_${request.messages.length}_${calls++}`
      const json = typeof input === 'string' ? input : JSON.stringify(input ?? {})
      send({ type: 'tool-input-start', callId, tool })
      await stream(json, { chunk: 64 }, (delta) => ({ type: 'tool-input', callId, delta }))
      send({ type: 'tool-call', callId, tool, input: json })
    },
    pause: (ms) => (ms === 0 ? Promise.resolve() : rest(clock, ms, signal)),
    finish(reason) {
      const input = estimate(JSON.stringify(request.messages).length)
      const output = estimate(characters)
      send({ type: 'finish', reason, usage: { input, output, reasoning: 0, cache: { read: 0, write: 0 }, total: input + output } })
    },
  }
}

function cut(text: string, chunk: number | undefined): readonly string[] {
  if (chunk === undefined) return text.match(/\s*\S+\s*?(?=\s|$)|\s+/g) ?? []
  const characters = Array.from(text)
  return Array.from({ length: Math.ceil(characters.length / chunk) }, (_, index) =>
    characters.slice(index * chunk, (index + 1) * chunk).join(''),
  )
}

function estimate(characters: number): number {
  return Math.ceil(characters / 4)
}

async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, ms, signal)
  if (signal.aborted) throw aborted(signal)
}

function aborted(signal: AbortSignal): ProviderError {
  return new ProviderError('The request to provider "svc" was aborted.', { retryable: false, cause: signal.reason })
}
