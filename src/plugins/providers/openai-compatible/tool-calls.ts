/**
 * Hands tool calls on (sessions-events §4.11). The SDK tells calls apart and hands them on when the body has ended;
 * here a call is handed on as soon as the next one begins.
 *
 * I1 A call is handed on once, with the arguments as they were sent; whether they are JSON is judged by the run.
 * I2 Of calls with the same id in one step only the first counts; nothing of the others is handed on.
 * I3 A call is complete when the next one begins and its arguments are a whole object, or when the provider finishes.
 * I4 No more is kept of a step than the run takes: of calls one more than it may have, of arguments a piece more than they may be.
 * I5 Nothing is added to a call after the provider has finished; a call that begins then is handed on as late.
 */
import type { StreamPart } from '../../../ports/provider-adapter.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { filled, parseJson } from '../exchange/json.js'

interface Call {
  readonly tool: string
  input: string
  complete: boolean
  readonly isLate: boolean
}

export interface ToolCalls {
  /** Takes `delta.tool_calls` of a chunk, before the SDK does, and takes out of it what is beyond the bounds. */
  announce(deltas: unknown[]): void
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
  /** Characters of arguments so far, by index or id. */
  const lengths = new Map<unknown, number>()
  let nameless = 0
  let frozen = false

  /** The bounds are those of the run (`step.ts`), which sees by what is beyond them that they were passed. */
  const isWithinBounds = (delta: JsonRecord): boolean => {
    const key = delta.index ?? delta.id
    const known = lengths.get(key)
    if (known === undefined && lengths.size > LIMITS.run.callsPerStep) return false
    const length = known ?? 0
    if (length > LIMITS.run.callBytes) return false
    const { arguments: input } = isRecord(delta.function) ? delta.function : {}
    lengths.set(key, length + (typeof input === 'string' ? input.length : 0))
    return true
  }

  const complete = (callId: string, call: Call): void => {
    call.complete = true
    push({ type: 'tool-call', callId, tool: call.tool, input: call.input.trim() === '' ? '{}' : call.input })
  }

  return {
    announce(deltas) {
      const kept = deltas.filter(isRecord).filter(isWithinBounds)
      deltas.splice(0, deltas.length, ...kept)
      for (const delta of kept) {
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
