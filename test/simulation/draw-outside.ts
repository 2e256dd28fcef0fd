/** Steps with external agents and with a model that is far away, between those of another history (see `draw-wide.ts`, I1). */
import { createRandom, type Random } from '../../src/simulation/random.js'
import type { OutsideStep } from './acts-outside.js'
import { drawPlays, USUAL } from './draw-plays.js'
import { type Weather, WEATHERS } from './far.js'
import { GUEST_MANNERS } from './guest-program.js'
import type { History, Step } from './history.js'

/** Of so many seeds these are of a history that looks outside: of odd ones, which have nothing else of their own. */
const CLASSES = 16
const OUTWARD: readonly number[] = [7, 13, 15]
/** After so many steps comes one more. */
const EVERY = 2
/** Names of prompts that no other history gives. */
const NAMES = 800_000
const SALT = 0x6f75

export function isOutwardSeed(seed: number): boolean {
  return OUTWARD.includes(seed % CLASSES)
}

export function outward(seed: number, history: History): History {
  const random = createRandom(seed ^ SALT)
  const first: readonly OutsideStep[] = [
    { do: 'reach', who: 'guest' },
    { do: 'reach', who: 'far' },
  ]
  let name = NAMES
  return history.flatMap((step, at) => {
    if (at === 0) return [step, ...first]
    const more = random.isOneIn(EVERY) ? drawOutside(random, (name += 2)) : []
    return [step, ...more.map((each) => ({ ...each, ...(random.isOneIn(2) && { turns: random.below(4) }) }))]
  })
}

const KINDS = [
  'asks',
  'asks',
  'asks',
  'asks',
  'manner',
  'manner',
  'weather',
  'weather',
  'aborts',
  'guest',
  'reach',
  'answer',
  'when',
  'when',
] as const
const WAITS = [20, 300, 1000, 5500, 31_000, 125_000, 310_000]
const FAIR: readonly Weather[] = ['fair', 'fair', 'fair']

function drawOutside(random: Random, name: number): History {
  const who = random.pick(['guest', 'guest', 'far'] as const)
  const wait: Step = { do: 'wait', ms: random.pick(WAITS) }
  switch (random.pick(KINDS)) {
    case 'asks':
      return [{ do: 'reach-asks', who, name, plays: who === 'far' ? drawPlays(random, USUAL) : [] }, ...(random.isOneIn(2) ? [wait] : [])]
    case 'manner': {
      const manner: Step = { do: 'guest-manner', is: random.pick(GUEST_MANNERS) }
      return [manner, { do: 'reach-asks', who: 'guest', name, plays: [] }, wait]
    }
    case 'weather': {
      const plays = [{ as: 'says' as const, words: 1 + random.below(4) }]
      return [{ do: 'weather', is: random.pick([...WEATHERS, ...FAIR]) }, { do: 'reach-asks', who: 'far', name, plays }, wait]
    }
    case 'aborts':
      return [{ do: 'reach-aborts', who }, ...(random.isOneIn(2) ? [wait] : [])]
    case 'guest':
      return [{ do: 'guest', how: random.pick(['dies', 'hangs', 'stirs']) }]
    case 'reach':
      return [{ do: 'reach', who }]
    case 'answer':
      return [{ do: 'answer', request: random.below(2), how: random.pick(['once', 'always', 'reject']) }]
    case 'when':
      return [{ do: 'when', machine: 'external-turn', state: random.pick(MOMENTS), nth: 1 + random.below(2), steps: [random.pick(THEN)] }]
  }
}

const MOMENTS = [
  'opening.starting',
  'opening.loading',
  'opening.draining',
  'opening.choosing',
  'prompting.working',
  'prompting.cancelling',
  'settling',
  'held',
  'leaving',
  'ending',
] as const
const THEN: readonly Step[] = [
  { do: 'reach-aborts', who: 'guest' },
  { do: 'reach-aborts', who: 'guest' },
  { do: 'guest', how: 'dies' },
  { do: 'guest', how: 'hangs' },
  { do: 'guest', how: 'stirs' },
  { do: 'guest-manner', is: 'late' },
  { do: 'restart' },
  { do: 'die', how: 'kill', torn: 1 },
  { do: 'die', how: 'power', torn: 1 },
  { do: 'fill', how: 'ENOSPC' },
  { do: 'delete', session: 1 },
]
