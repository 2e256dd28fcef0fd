/**
 * Which sessions one incarnation of a plugin serves: those of the calls it has not answered yet, and of events it was told of lately.
 *
 * A plugin names a session in what it asks; here is known whether it may. What it does by itself is of no session.
 */
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { Clock } from '../../../ports/effects.js'
import type { ToolContext } from '../../../ports/plugin.js'

/** What a plugin was called for. */
interface Serving {
  readonly sessionId: string
  /** Of a tool call: what the run lets its tools do. */
  readonly tool?: ToolContext
}

export interface ServedSessions {
  /** Makes a call to the plugin, which serves the session until it is over; undefined = it is about none. */
  during<T>(serving: Serving | undefined, call: () => Promise<T>): Promise<T>
  /** It is told of an event of the session. */
  heard(sessionId: string): void
  /** Of calls under way. */
  current(): readonly string[]
  /** It serves the session now, or was told of it lately. */
  has(sessionId: string): boolean
  /** Of the tool call of the session that began last and is under way. */
  toolCall(sessionId: string): ToolContext | undefined
}

const { remembered, heard: HEARD } = LIMITS.servedSessions

export function createServedSessions(clock: Pick<Clock, 'monotonic'>): ServedSessions {
  const calls = new Set<Serving>()
  const told = createLru<string, number>(remembered)
  const isCurrent = (sessionId: string) => [...calls].some((serving) => serving.sessionId === sessionId)
  return {
    async during(serving, call) {
      if (serving === undefined) return call()
      const mine = { ...serving }
      calls.add(mine)
      try {
        return await call()
      } finally {
        calls.delete(mine)
      }
    },
    heard: (sessionId) => told.set(sessionId, clock.monotonic()),
    current: () => [...new Set([...calls].map(({ sessionId }) => sessionId))],
    has(sessionId) {
      const at = told.get(sessionId)
      return isCurrent(sessionId) || (at !== undefined && clock.monotonic() - at <= HEARD)
    },
    toolCall: (sessionId) => [...calls].findLast((serving) => serving.sessionId === sessionId && serving.tool !== undefined)?.tool,
  }
}
