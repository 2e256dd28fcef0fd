/** Calls of tools, judged as they are executed by what people have said until then. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Execution, ExecutedCall, Known } from './known.js'
import type { Life } from './life.js'

/** `life`: undefined while a server starts. */
export function judgedExecution(known: Known, call: ExecutedCall, life: Pick<Life, 'runtime'> | undefined): Execution {
  return { ...call, isAllowed: isAllowed(known, call), isAborted: life !== undefined && isAborted(known, call, life) }
}

/** By the configuration, by somebody who has answered this very call, or by somebody who has said that it is always so (sessions-events §8.4, §8.11). */
function isAllowed({ config, allowed }: Known, { tool, sessionId, id }: ExecutedCall): boolean {
  if (tool === 'forbidden') return false
  if (tool !== 'guarded') return true
  const rules = config.values().map(({ guarded }) => guarded)
  if (rules.every((rule) => rule === 'deny')) return false
  return rules.includes('allow') || allowed.has(id) || allowed.has(onceFor(sessionId, id))
}

/** What somebody allows who answers `once`. */
export function onceFor(sessionId: string, pattern: string): string {
  return `${sessionId} ${pattern}`
}

/** The run that works in its session is one whose abort was answered. */
function isAborted({ aborted }: Known, { sessionId }: ExecutedCall, { runtime }: Pick<Life, 'runtime'>): boolean {
  if (aborted.length === 0) return false
  const status: { readonly runID?: unknown } | undefined = runtime.sessions.status(TRUSTED_CALLER)[sessionId]
  return aborted.some(({ runId }) => runId === status?.runID)
}
