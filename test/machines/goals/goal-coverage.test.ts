import { describe, expect, it } from 'vitest'
import { courseAfter, type EndedRun, type SoFar } from '../../../src/machines/goals/goal-course.js'
import { goalMachine } from '../../../src/machines/goals/goal.machine.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const events = [
  { type: 'session.stirred' },
  { type: 'goal.completed' },
  { type: 'goal.blocked' },
  { type: 'goal.paused' },
  { type: 'goal.cleared' },
  { type: 'service.stopping' },
  done('follow'),
  error('follow'),
  ...['continued', 'rested', 'paused', 'blocked', 'gone'].map((output) => done('decide', output)),
  error('decide'),
  { type: 'xstate.after.retry.goal.waiting' },
]
const key = ({ context }: { readonly context: { readonly isStirred: boolean } }) => [context.isStirred]

describe('the machine of a goal', () => {
  const explored = explore(goalMachine, { sessionId: 'ses_1' }, events, { key })

  it('has every transition covered by generated paths', () => expect(missing(explored)).toEqual([]))

  it('ends in every end, and rests only while nothing has happened since it looked', () => {
    const ends = new Set(explored.snapshots.filter(({ status }) => status === 'done').map(({ value }) => String(value)))
    expect([...ends].toSorted()).toEqual(['blocked', 'cleared', 'complete', 'parked', 'paused'])
    const resting = explored.snapshots.filter(({ value }) => value === 'resting')
    expect(resting.map(({ context }) => (context as { isStirred: boolean }).isStirred)).toEqual([false])
  })
})

describe('the course after a run', () => {
  const { continuations, idleRuns, cost } = LIMITS.goals
  const run = (more: Partial<EndedRun> = {}): EndedRun => ({ end: 'completed', newCalls: 1, isAnswered: true, ...more })
  const soFar = (more: Partial<SoFar> = {}): SoFar => ({ continued: 0, idle: 0, cost: 0, ...more })

  it('goes on while something new is done, and forgets runs that did nothing', () => {
    expect(courseAfter(run(), soFar({ idle: 2 }))).toEqual({ type: 'continue', idle: 0 })
    expect(courseAfter(run({ newCalls: 0 }), soFar())).toEqual({ type: 'continue', idle: 1 })
    expect(courseAfter(run({ end: 'stopped', newCalls: 0, isAnswered: false }), soFar())).toEqual({ type: 'continue', idle: 1 })
  })

  it('pauses with an abort, whatever was done', () => {
    expect(courseAfter(run({ end: 'aborted' }), soFar())).toEqual({ type: 'pause', why: 'Paused: its run was aborted.' })
  })

  it('stops at each bound, and says which', () => {
    const why = (ended: EndedRun, before: SoFar) => {
      const course = courseAfter(ended, before)
      return course.type === 'block' ? course.why : course.type
    }
    expect(why(run({ newCalls: 0 }), soFar({ idle: idleRuns - 1 }))).toContain('made no progress')
    expect(why(run(), soFar({ continued: continuations - 1 }))).toBe('continue')
    expect(why(run(), soFar({ continued: continuations }))).toContain(`went on ${continuations} times`)
    expect(why(run(), soFar({ cost }))).toContain('have cost 10.00')
    expect(why(run({ end: 'failed', error: 'no key' }), soFar())).toBe('Stopped: a run failed: no key')
    expect(why(run({ isAnswered: false }), soFar())).toBe('Stopped: the next run could not begin.')
  })
})
