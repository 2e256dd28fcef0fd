/** Steps with the goals of sessions, between those of another history (see `draw-wide.ts`, I1). */
import { createRandom, type Random } from '../../src/simulation/random.js'
import type { GoalStep } from './acts-goals.js'
import type { Called, History, Play, Step } from './history.js'
import { GOALS } from './rows.js'

/** Of so many seeds this one is of a history with goals: of odd ones, which have nothing else of their own. */
const CLASSES = 16
const PURSUING = 11
/** After so many steps comes one more. */
const EVERY = 2
const SESSIONS = 3
/** Names of prompts that no other history gives. */
const NAMES = 900_000
const SALT = 0x676f

export function isPursuingSeed(seed: number): boolean {
  return seed % CLASSES === PURSUING
}

export function pursuing(seed: number, history: History): History {
  const random = createRandom(seed ^ SALT)
  let name = NAMES
  return history.flatMap((step, at) => {
    if (at === 0) return [step, drawGoal(random, name)]
    const more = random.isOneIn(EVERY) ? drawMore(random, ++name) : []
    return [step, ...more.map((each) => ({ ...each, ...(random.isOneIn(2) && { turns: random.below(4) }) }))]
  })
}

const HOWS = ['sets', 'sets', 'sets', 'again', 'again', 'pauses', 'resumes', 'clears'] as const

function drawGoal(random: Random, name: number): GoalStep {
  return { do: 'goal', session: random.below(SESSIONS), how: random.pick(HOWS), name }
}

const TOOLS: readonly Called[] = ['answers', 'writes', 'holds', 'guarded', 'question', 'task', 'waits', 'completes', 'completes']

/** What the model does in the run of the prompt, and then in those of its goal. */
function drawCourse(random: Random): readonly Play[] {
  return Array.from({ length: random.below(8) }, (): Play => {
    if (random.isOneIn(12)) return { as: 'fails', words: 1, retryable: random.isOneIn(2) }
    return random.isOneIn(3) ? { as: 'says', words: 1 } : { as: 'calls', words: random.below(2), tools: [random.pick(TOOLS)] }
  })
}

const KINDS = ['goal', 'goal', 'asks', 'asks', 'asks', 'both', 'both', 'wait', 'wait', 'aborts', 'when', 'when', 'when', 'off'] as const
const WAITS = [20, 300, 1000, 5500, 31_000]

function drawMore(random: Random, name: number): History {
  const session = random.below(SESSIONS)
  const asks: Step = { do: 'prompt', session, name, delivery: 'queue', plays: drawCourse(random) }
  switch (random.pick(KINDS)) {
    case 'goal':
      return [drawGoal(random, name)]
    case 'asks':
      return [asks]
    case 'both':
      return [{ do: 'goal', session, how: 'sets', name }, ...(random.isOneIn(2) ? [drawEnd(random)] : []), asks]
    case 'wait':
      return [{ do: 'wait', ms: random.pick(WAITS) }]
    case 'aborts':
      return [{ do: 'abort', session, queue: 'go-on' }]
    case 'when': {
      const machine = random.pick(['goal', 'goal', 'run', 'session'] as const)
      return [{ do: 'when', machine, state: random.pick(MOMENTS[machine]), nth: 1 + random.below(3), steps: [random.pick(THEN)] }]
    }
    case 'off':
      return [{ do: 'configure', says: { guarded: 'ask', off: random.isOneIn(2) ? [GOALS] : [] } }]
  }
}

/** The server ends with a run that was just begun. */
function drawEnd(random: Random): Step {
  const end: Step = random.isOneIn(2) ? { do: 'die', how: random.pick(['kill', 'power']), torn: 1 } : { do: 'restart' }
  return { do: 'when', machine: 'run', state: random.pick(MOMENTS.run), nth: 1, steps: [end] }
}

/** Where it matters what happens: machines and states as charts call them. */
const MOMENTS = {
  goal: ['following', 'deciding', 'resting', 'waiting'],
  run: ['working.preparing', 'working.generating', 'closing', 'ending.recording'],
  session: ['looking', 'idle', 'recovering'],
} as const
const THEN: readonly Step[] = [
  { do: 'die', how: 'kill', torn: 1 },
  { do: 'die', how: 'kill', torn: 1 },
  { do: 'die', how: 'power', torn: 1 },
  { do: 'restart' },
  { do: 'restart' },
  { do: 'abort', session: 0, queue: 'go-on' },
  { do: 'goal', session: 0, how: 'pauses' },
  { do: 'goal', session: 0, how: 'resumes' },
  { do: 'goal', session: 0, how: 'again' },
  { do: 'fill', how: 'ENOSPC' },
  { do: 'fill', how: 'EIO' },
  { do: 'configure', says: { guarded: 'ask', off: [GOALS] } },
]
