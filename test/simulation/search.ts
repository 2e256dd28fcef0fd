/** Looks for what a planted defect breaks, from a seed on, and for the shortest history that shows it. */
import { createRandom } from '../../src/simulation/random.js'
import { draw, type History } from './history.js'
import type { Defect } from './life.js'
import { play } from './simulate.js'

export interface Search {
  readonly seed: number
  /** Steps of each history. */
  readonly steps: number
  /** Whether it has looked long enough, asked before each history. */
  isOver(played: number): boolean
}

export interface FoundDefect {
  /** Of the history that showed it. */
  readonly seed: number
  /** Histories that were played until then. */
  readonly played: number
  /** Up to where it failed. */
  readonly history: History
  readonly says: string
}

/** The first history of those from the seed on in which something does not hold; undefined = it has looked long enough. */
export async function searchFor(plant: () => Defect, { seed, steps, isOver }: Search): Promise<FoundDefect | undefined> {
  for (let played = 0; !isOver(played); played++) {
    const history = drawn(seed + played, steps)
    const { fault } = await play(seed + played, history, plant())
    if (fault !== undefined) return { seed: seed + played, played: played + 1, history: history.slice(0, fault.after), says: fault.says }
  }
  return undefined
}

/** As searches draw it. */
export function drawn(seed: number, steps: number): History {
  return draw(createRandom(seed), steps, { swarms: true })
}

/** Seconds of processor time that this process has used. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
