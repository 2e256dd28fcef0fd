/** What clients do with the goals of sessions. In histories with steps of them alone is the plugin there. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { goalRoutes } from '../../src/protocol/session/goal.js'
import type { Acting } from './acting.js'
import type { History } from './history.js'
import { PLACES } from './life.js'

/** `sets`: to another text; `again`: to the same one. */
export interface GoalStep {
  readonly do: 'goal'
  readonly session: number
  readonly how: 'sets' | 'again' | 'pauses' | 'resumes' | 'clears'
  readonly name?: number
}

export function isPursuing(history: History): boolean {
  return history.some((step) => step.do === 'goal')
}

export function actOnGoal({ known, life, call }: Acting, { session, how, name = 0 }: GoalStep): void {
  const sessionId = known.sessions[session % Math.max(1, known.sessions.length)]
  if (sessionId === undefined) return
  const text = how === 'sets' ? `goal ${name}` : 'the same goal'
  const body = how === 'sets' || how === 'again' ? { text } : { paused: how === 'pauses' }
  // What is set or resumed counts from the beginning.
  known.begun.set(sessionId, (known.begun.get(sessionId) ?? 0) + 1)
  call(`goal ${how}`, () =>
    life.runtime.plugins.call(how === 'clears' ? goalRoutes.clear.id : goalRoutes.set.id, {
      caller: TRUSTED_CALLER,
      directory: PLACES.cwd,
      params: { session_id: sessionId },
      query: {},
      headers: {},
      body,
      signal: new AbortController().signal,
    }),
  )
}
