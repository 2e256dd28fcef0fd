/**
 * Assembles tool calls from the pieces of a stream (sessions-events §4.11).
 *
 * I1 A call is handed on once, and only with arguments that parse as JSON.
 * I2 Of calls with the same id in one step only the first counts; nothing of the others is handed on.
 * I3 A call is complete when the next one begins or the provider finishes.
 */
import type { StreamPart } from '../../actors/provider/adapter.js'
import { filled, isRecord, type JsonRecord, parseJson } from './json.js'

interface Call {
  readonly index: number | undefined
  id: string | undefined
  tool: string | undefined
  input: string
  state: 'unnamed' | 'open' | 'complete' | 'duplicate'
}

export interface ToolCalls {
  /** Takes one entry of `delta.tool_calls`. */
  take(delta: unknown): void
  /** Completes all calls; answers what is wrong with the first broken one, or undefined. */
  finish(): string | undefined
  readonly size: number
}

export function createToolCalls(push: (part: StreamPart) => void, nextId: () => string): ToolCalls {
  const calls: Call[] = []
  const ids = new Set<string>()

  const open = (call: Call, tool: string) => {
    const id = call.id ?? nextId()
    call.id = id
    call.tool = tool
    if (ids.has(id)) {
      call.state = 'duplicate'
      return
    }
    ids.add(id)
    call.state = 'open'
    push({ type: 'tool-input-start', callId: id, tool })
    if (call.input !== '') push({ type: 'tool-input', callId: id, delta: call.input })
  }

  const complete = (call: Call): boolean => {
    if (call.state === 'complete' || call.state === 'duplicate') return true
    const input = call.input.trim() === '' ? '{}' : call.input
    if (call.state === 'unnamed' || call.id === undefined || call.tool === undefined || parseJson(input) === undefined) return false
    call.state = 'complete'
    push({ type: 'tool-call', callId: call.id, tool: call.tool, input })
    return true
  }

  const callOf = (delta: JsonRecord, id: string | undefined, tool: string | undefined): Call | undefined => {
    const index = typeof delta.index === 'number' ? delta.index : undefined
    const known = index === undefined ? byIdOrLast(calls, id) : calls.findLast((call) => call.index === index)
    const continues = known !== undefined && (tool === undefined || id === undefined || known.id === undefined || known.id === id)
    if (continues && !(tool !== undefined && isWhole(known))) return known
    if (known !== undefined && tool === undefined) return undefined
    const call: Call = { index, id, tool: undefined, input: '', state: 'unnamed' }
    for (const earlier of calls) if (earlier.state === 'open') complete(earlier)
    calls.push(call)
    return call
  }

  return {
    take(delta) {
      if (!isRecord(delta)) return
      const part = isRecord(delta.function) ? delta.function : {}
      const id = filled(delta.id)
      const tool = filled(part.name)
      const call = callOf(delta, id, tool)
      if (call === undefined || call.state === 'complete' || call.state === 'duplicate') return
      call.id ??= id
      const piece = typeof part.arguments === 'string' ? part.arguments : isRecord(part.arguments) ? JSON.stringify(part.arguments) : ''
      if (call.state === 'unnamed') {
        call.input += piece
        if (tool !== undefined) open(call, tool)
        return
      }
      call.input += piece
      if (piece !== '' && call.id !== undefined) push({ type: 'tool-input', callId: call.id, delta: piece })
    },
    finish() {
      for (const call of calls) {
        if (!complete(call)) return `sent incomplete arguments for the tool call "${call.tool ?? call.id ?? 'without name'}".`
      }
      return undefined
    },
    get size() {
      return calls.length
    },
  }
}

/** Without an index: the call with that id, or the last one when the piece names no id. */
function byIdOrLast(calls: readonly Call[], id: string | undefined): Call | undefined {
  return id === undefined ? calls.at(-1) : calls.find((call) => call.id === id)
}

/** A second head for a call whose arguments are already whole is a repetition, not more of it. */
function isWhole(call: Call): boolean {
  return call.input !== '' && parseJson(call.input) !== undefined
}
