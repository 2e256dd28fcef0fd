/** Looks for what a planted defect breaks, from a seed on, and for the shortest history that shows it. */
import { createRandom } from '../../src/simulation/random.js'
import { widened } from './draw-wide.js'
import { type Bent, draw, type History } from './history.js'
import type { Defect } from './life.js'
import { shrink, type Shrunk } from './shrink.js'
import { play } from './simulate.js'

/** Steps of a history. */
const STEPS = 50
/** Of so many histories two have a bent. */
const EVERY = 8
const BENT: ReadonlyMap<number, Bent> = new Map([
  [5, 'asking'],
  [7, 'patient'],
])

export interface FoundDefect {
  /** Of the history that showed it. */
  readonly seed: number
  /** Histories that were played until then. */
  readonly played: number
  /** Up to where it failed. */
  readonly history: History
  readonly says: string
}

/** The first history of those from the seed on in which something does not hold; undefined = `isOver`, asked before each, says that it was looked long enough. */
export async function searchFor(plant: () => Defect, first: number, isOver: () => boolean): Promise<FoundDefect | undefined> {
  for (let seed = first; !isOver(); seed++) {
    const history = drawn(seed)
    const { fault } = await play(seed, history, plant())
    if (fault !== undefined) return { seed, played: seed - first + 1, history: history.slice(0, fault.after), says: fault.says }
  }
  return undefined
}

/** As searches draw it. */
export function drawn(seed: number): History {
  return widened(seed, draw(createRandom(seed), STEPS, { swarms: true, bent: BENT.get(seed % EVERY) }))
}

export interface Shown extends FoundDefect {
  readonly shrunk: Shrunk
  /** Seconds of processor time until it was found, and until it was shrunk. */
  readonly took: readonly [found: number, shrunk: number]
}

/** Finds and shrinks it within so many seconds of processor time; undefined = it was not found in them. */
export async function show(plant: () => Defect, first: number, seconds: number): Promise<Shown | undefined> {
  const used = stopwatch()
  const isOver = () => used() > seconds
  const found = await searchFor(plant, first, isOver)
  if (found === undefined) return undefined
  const until = used()
  const shrunk = await shrink(found.seed, found.history, plant, isOver)
  return { ...found, shrunk, took: [until, used()] }
}

/** Seconds of processor time that this process has used since. */
function stopwatch(): () => number {
  const begun = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1e6
  }
}
