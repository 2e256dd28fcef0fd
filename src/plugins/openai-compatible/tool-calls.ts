/**
 * Hands tool calls on (sessions-events §4.11). The SDK tells calls apart and hands them on when the body has ended;
 * here a call is handed on as soon as the next one begins.
 *
 * I1 A call is handed on once, with the arguments as they were sent; whether they are JSON is judged by the run.
 * I2 Of calls with the same id in one step only the first counts; nothing of the others is handed on.
 * I3 A call is complete when the next one begins and its arguments are a whole object, or when the provider finishes.
 * I4 Nothing is added to a call after the provider has finished; a call that begins then is handed on as late.
 */
import type { StreamPart } from '../../actors/provider/adapter.js'
import { filled, isRecord, parseJson } from './json.js'

interface Call {
  readonly tool: string
  input: string
  complete: boolean
  readonly isLate: boolean
}

export interface ToolCalls {
  /** Takes `delta.tool_calls` of a chunk, at any time before the SDK's parts of it. */
  announce(deltas: readonly unknown[]): void
  start(id: string, tool: string): void
  add(id: string, delta: string): void
  /** The provider has finished: what comes from now on is late. */
  freeze(): void
  /** Hands on all calls but the late ones; answers how many there were. */
  finish(): number
  /** Hands on the late calls, for the run to refuse. */
  finishLate(): void
}

export function createToolCalls(push: (part: StreamPart) => void): ToolCalls {
  const calls = new Map<string, Call>()
  const ids = new Set<string>()
  const indexes = new Set<number>()
  let nameless = 0
  let frozen = false

  const complete = (callId: string, call: Call): void => {
    call.complete = true
    push({ type: 'tool-call', callId, tool: call.tool, input: call.input.trim() === '' ? '{}' : call.input })
  }

  return {
    announce(deltas) {
      for (const delta of deltas) {
        if (!isRecord(delta)) continue
        const id = filled(delta.id)
        const index = typeof delta.index === 'number' ? delta.index : undefined
        if (id !== undefined) ids.add(id)
        if (id !== undefined && index !== undefined) indexes.add(index)
        const begins = isRecord(delta.function) && filled(delta.function.name) !== undefined
        if (id === undefined && begins && (index === undefined || !indexes.has(index))) nameless++
      }
    },
    start(id, tool) {
      // The SDK gives a call an id of its own when the provider gave none, and when the provider's was taken.
      if (!ids.has(id) && nameless-- <= 0) return
      for (const [earlier, call] of calls) if (!call.complete && isRecord(parseJson(call.input))) complete(earlier, call)
      calls.set(id, { tool, input: '', complete: false, isLate: frozen })
      push({ type: 'tool-input-start', callId: id, tool })
    },
    add(id, delta) {
      const call = calls.get(id)
      if (call === undefined || call.complete || call.isLate !== frozen || delta === '') return
      call.input += delta
      push({ type: 'tool-input', callId: id, delta })
    },
    freeze() {
      frozen = true
    },
    finish() {
      const timely = [...calls].filter(([, call]) => !call.isLate)
      for (const [id, call] of timely) if (!call.complete) complete(id, call)
      return timely.length
    },
    finishLate() {
      for (const [id, call] of calls) if (!call.complete) complete(id, call)
    },
  }
}
