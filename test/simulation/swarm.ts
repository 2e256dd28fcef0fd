/** Histories that differ in what they are full of: some acts happen often in one, and others never (swarm testing). */
import type { Random } from '../../src/simulation/random.js'

/** By how much an act is more frequent in a history than in others. */
const TIMES = [0, 0, 1, 1, 1, 4] as const

/** Each `kind` as often as its weight says, and as this history has it; those that `stay` are in every history. */
export function swarm<Kind extends string>(random: Random, weights: Readonly<Record<Kind, number>>, stay: readonly Kind[]): Kind[] {
  return Object.keys(weights).flatMap((each) => {
    const kind = each as Kind // It is a key of the weights.
    const times = random.pick(TIMES)
    return Array.from({ length: weights[kind] * (stay.includes(kind) ? Math.max(1, times) : times) }, () => kind)
  })
}
