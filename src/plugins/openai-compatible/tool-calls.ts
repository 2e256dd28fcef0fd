/**
 * Hands tool calls on (sessions-events §4.11). The SDK tells calls apart and hands them on when the body has ended;
 * here a call is handed on as soon as the next one begins.
 *
 * I1 A call is handed on once, and only with arguments that parse as JSON.
 * I2 Of calls with the same id in one step only the first counts; nothing of the others is handed on.
 * I3 A call is complete when the next one begins and its arguments are a whole object, or when the provider finishes.
 */
import type { StreamPart } from '../../actors/provider/adapter.js'
import { filled, isRecord, parseJson } from './json.js'

interface Call {
  readonly tool: string
  input: string
  complete: boolean
}

export interface ToolCalls {
  /** Takes `delta.tool_calls` of a chunk, at any time before the SDK's parts of it. */
  announce(deltas: readonly unknown[]): void
  start(id: string, tool: string): void
  add(id: string, delta: string): void
  /** Completes all calls; answers what is wrong with the first broken one, or undefined. */
  finish(): string | undefined
  readonly size: number
}

export function createToolCalls(push: (part: StreamPart) => void): ToolCalls {
  const calls = new Map<string, Call>()
  const ids = new Set<string>()
  const indexes = new Set<number>()
  let nameless = 0

  const complete = (callId: string, call: Call): boolean => {
    const input = call.input.trim() === '' ? '{}' : call.input
    if (parseJson(input) === undefined) return false
    call.complete = true
    push({ type: 'tool-call', callId, tool: call.tool, input })
    return true
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
      calls.set(id, { tool, input: '', complete: false })
      push({ type: 'tool-input-start', callId: id, tool })
    },
    add(id, delta) {
      const call = calls.get(id)
      if (call === undefined || call.complete || delta === '') return
      call.input += delta
      push({ type: 'tool-input', callId: id, delta })
    },
    finish() {
      for (const [id, call] of calls) {
        if (!call.complete && !complete(id, call)) return `sent incomplete arguments for the tool call "${call.tool}".`
      }
      return undefined
    },
    get size() {
      return calls.size
    },
  }
}
