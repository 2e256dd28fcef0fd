/** What clients do with the goals of sessions. In histories with steps of them alone is the plugin there. */
import { goalRoutes } from '../../src/protocol/session/goal.js'
import type { Acting } from './acting.js'
import type { Usual } from './acts-outside.js'
import type { History } from './history.js'

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

export function actOnGoal({ known, life, call }: Acting, { session, how, name = 0 }: GoalStep, { operate }: Pick<Usual, 'operate'>): void {
  const sessionId = known.sessions[session % Math.max(1, known.sessions.length)]
  if (sessionId === undefined) return
  const text = how === 'sets' ? `goal ${name}` : 'the same goal'
  const body = how === 'sets' || how === 'again' ? { text } : { paused: how === 'pauses' }
  // What is set or resumed counts from the beginning.
  known.begun.set(sessionId, (known.begun.get(sessionId) ?? 0) + 1)
  const operation = how === 'clears' ? goalRoutes.clear.id : goalRoutes.set.id
  call(`goal ${how}`, () => operate(life, operation, { params: { session_id: sessionId }, body }))
}
