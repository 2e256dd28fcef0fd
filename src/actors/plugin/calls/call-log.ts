/**
 * The latest calls of one plugin, for the inspector: who called what, when, for how long, and how it ended.
 *
 * I1 Nothing of what is asked or answered is kept: ids, times and names of errors alone.
 * I2 There are never more than `LIMITS.inspector.pluginCalls`, each of bounded length; a call costs one small object.
 */
import { cut } from '../../../kernel/cut.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { InspectedCall } from '../../../protocol/system/inspector.js'
import { ToolError } from '../../../ports/plugin.js'

export interface BegunCall {
  readonly from: 'host' | 'plugin'
  readonly method: string
  /** Id of what is called. */
  readonly name?: string | undefined
  readonly sessionId?: string | undefined
}

/** Told how a call ended; without a failure, well. */
export type CallEnded = (failure?: { readonly error: unknown; readonly isAborted?: boolean | undefined }) => void

/** Hears that a call begins. Throws nothing, and neither does what it answers. */
export type OnCall = (call: BegunCall) => CallEnded

/** Adds the call to `calls`, oldest first, and completes it there when it ends. */
export function noteCall(calls: InspectedCall[], now: () => number, generation: number, call: BegunCall): CallEnded {
  const { from, method, name, sessionId } = call
  const noted: InspectedCall = {
    at: now(),
    from,
    generation,
    method: short(method),
    ...(name !== undefined && { name: short(name) }),
    ...(sessionId !== undefined && { sessionId: short(sessionId) }),
    outcome: 'running',
  }
  calls.push(noted)
  if (calls.length > LIMITS.inspector.pluginCalls) calls.shift()
  return (failure) => {
    noted.ms = Math.max(0, Math.round(now() - noted.at))
    noted.outcome = failure === undefined ? 'ok' : failure.isAborted === true ? 'aborted' : nameOf(failure.error)
  }
}

/** Does the work, and tells how it ended. */
export async function heard<T>(
  onCall: OnCall | undefined,
  call: BegunCall,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const ended = onCall?.(call)
  try {
    const answer = await work()
    ended?.()
    return answer
  } catch (error) {
    ended?.({ error, isAborted: signal?.aborted })
    throw error
  }
}

/** Never its message: that may hold anything. */
function nameOf(error: unknown): string {
  if (error instanceof SvcError) return error.code
  return error instanceof ToolError ? 'tool.failed' : 'failed'
}

function short(text: string): string {
  return cut(text, LIMITS.inspector.pluginName, '…').toWellFormed()
}
