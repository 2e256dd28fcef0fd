/** What holds of the goals of sessions. */
import { isOfCompaction } from '../../src/actors/session/history/conversation.js'
import { SessionGoal } from '../../src/protocol/session/goal.js'
import type { Invariant } from './invariants.js'
import { GOALS, isOff, type Pursuit, pursuitsOf } from './rows.js'
import type { World } from './world.js'

export const GOAL_INVARIANTS: readonly Invariant[] = [
  { says: 'a goal is pursued as long as it is active and not paused', when: 'always', fault: pursuedAsSaid },
  { says: 'nothing is kept of a goal whose session is gone', when: 'always', fault: noneLeft },
  { says: 'no run follows twice on one end', when: 'always', fault: followedOnce },
  { says: 'a goal goes on after a run that has ended', when: 'calm', fault: goesOn },
]

function isPursued({ life }: World, sessionId: string): boolean {
  const { data } = SessionGoal.safeParse(life.store.sessions.get(sessionId)?.['goal'])
  return data?.status === 'active' && !data.paused
}

function pursuedAsSaid(world: World): string | undefined {
  const rows = new Set(pursuitsOf(world.life).map(({ sessionId }) => sessionId))
  const wrong = world.sessions.find((id) => world.life.store.sessions.get(id) !== undefined && isPursued(world, id) !== rows.has(id))
  return wrong && `that of ${wrong} is ${rows.has(wrong) ? '' : 'not '}pursued`
}

function noneLeft({ life }: World): string | undefined {
  const left = pursuitsOf(life).find(({ sessionId }) => life.store.sessions.get(sessionId) === undefined)
  return left && `the row of ${left.sessionId} is there`
}

/** Where nobody took anything back. How often it went on is told with each run. */
function followedOnce(world: World): string | undefined {
  for (const id of world.sessions) {
    if (world.touched.has(id)) continue
    const numbers = world
      .messages(id)
      .filter(({ info }) => info.role === 'user')
      .flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'text' ? [/^The goal .* \((\d+) of at most/.exec(part.text)?.[1]] : [])),
      )
      .filter((number) => number !== undefined)
    const twice = numbers.find((number, at) => number !== '1' && number === numbers[at - 1])
    if (twice !== undefined) return `${id} was told twice to go on for the ${twice}. time`
    const first = numbers.filter((number) => number === '1').length
    if (first > (world.begun.get(id) ?? 0)) return `${id} was told ${first} times to go on for the first time`
  }
  return undefined
}

/** What a plugin that is switched off has left, it goes on with once it is on. */
function goesOn(world: World): string | undefined {
  if (isOff(world, GOALS)) return undefined
  const rests = pursuitsOf(world.life).find((pursuit) => world.sessions.includes(pursuit.sessionId) && isDue(world, pursuit))
  return rests && `that of ${rests.sessionId} rests`
}

/** A run that has ended since, and has said something, or nothing of its prompt; a compaction is no such run. */
function isDue(world: World, { sessionId, since, ended, seen, isTold }: Pursuit): boolean {
  const run = world.life.store.runs.last(sessionId)
  if (run === undefined || run.status === 'running' || run.id === ended) return false
  if (isTold) return true
  const info = world.messages(sessionId).findLast((message) => !isOfCompaction(message))?.info
  const isNew = info?.role === 'user' || (info?.role === 'assistant' && info.id !== seen && (info.time.completed ?? 0) > since)
  return isNew && (run.status === 'interrupted' || run.status === 'error')
}
