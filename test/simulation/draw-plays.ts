/** What the model does in a history, drawn: how often it fails, hangs or calls, and which tools. */
import type { Random } from '../../src/simulation/random.js'
import type { Called, Delegating, Own, Play } from './history.js'
import { swarm } from './swarm.js'

type As = Play['as']

/** Each as often as it stands here. */
export interface Manner {
  readonly as: readonly As[]
  readonly own: readonly Own[]
  readonly delegating: readonly Delegating[]
  /** One call in so many delegates. */
  readonly delegates: number
}

const AS: Readonly<Record<As, number>> = { says: 2, calls: 4, fails: 1, cut: 1, hangs: 1, fills: 1, overflows: 1 }
const OWN: Readonly<Record<Own, number>> = {
  answers: 1,
  writes: 1,
  fails: 1,
  holds: 1,
  late: 1,
  guarded: 2,
  question: 1,
  forbidden: 1,
  nothing: 1,
}
const DELEGATING: Readonly<Record<Delegating, number>> = { task: 2, waits: 1, more: 1, stops: 1, looks: 1 }
const DELEGATES = 3
/** One call in so many, of a task. */
const DELEGATES_BELOW = 9

const each = <Kind extends string>(weights: Readonly<Record<Kind, number>>): Kind[] =>
  (Object.keys(weights) as Kind[]).flatMap((kind) => Array.from({ length: weights[kind] }, () => kind))

/** Of histories that do not differ. */
export const USUAL: Manner = { as: each(AS), own: each(OWN), delegating: each(DELEGATING), delegates: DELEGATES }

/** Of one in which the agent asks for much. */
export const ASKED: Manner = {
  as: ['says', 'calls', 'calls', 'calls'],
  own: ['guarded', 'guarded', 'guarded', 'answers'],
  delegating: ['task'],
  delegates: 9,
}

/** Of one that differs from others. */
export function differently(random: Random): Manner {
  return {
    as: swarm(random, AS, ['says', 'calls']),
    own: swarm(random, OWN, ['answers']),
    delegating: swarm<Delegating>(random, { ...DELEGATING, waits: 2 }, ['task']),
    delegates: random.pick([1, 1, 2, DELEGATES, 9]),
  }
}

export function drawPlays(random: Random, manner: Manner, isBelow = false): Play[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const words = random.below(4)
    const as = random.pick(manner.as)
    if (as === 'fails') return { as, words, retryable: !random.isOneIn(3) }
    if (as !== 'calls') return { as, words }
    const tools = Array.from({ length: 1 + random.below(3) }, (): Called => drawCall(random, manner, isBelow))
    return { as, words, tools, ...(!isBelow && tools.some(delegates) && { below: drawPlays(random, manner, true) }) }
  })
}

function drawCall(random: Random, { own, delegating, delegates: often }: Manner, isBelow: boolean): Called {
  const isDelegating = random.isOneIn(isBelow ? DELEGATES_BELOW : often)
  return isDelegating ? random.pick(delegating) : random.pick(own)
}

const delegates = (tool: Called) => tool === 'task' || tool === 'waits' || tool === 'more'
