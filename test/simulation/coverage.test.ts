/** Every transition of every machine is taken in the simulation, or it is said why not. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../../src/simulation/random.js'
import { PATIENCE } from '../fakes/patience.js'
import { allTransitions, type Coverage, noteTransitions } from './coverage.js'
import { widened } from './draw-wide.js'
import { draw } from './history.js'
import { NEVER } from './never-taken.js'
import { play } from './simulate.js'
import { TOURS } from './tours/tours.js'

const SEEDS = [3, 25, 26]
/** Of histories that are wide. */
const WIDE = [4, 8, 10]
const STEPS = 120

const faults = new Map<string, unknown>()
let coverage: Coverage
let all: Awaited<ReturnType<typeof allTransitions>>

beforeAll(async () => {
  all = await allTransitions()
  coverage = noteTransitions()
  for (const seed of SEEDS) faults.set(`seed ${seed}`, (await play(seed, draw(createRandom(seed), STEPS))).fault)
  for (const seed of WIDE) faults.set(`seed ${seed}, wide`, (await play(seed, widened(seed, draw(createRandom(seed), STEPS)))).fault)
  for (const [name, history] of Object.entries(TOURS)) faults.set(name, (await play(1, history)).fault)
}, 20 * PATIENCE)
afterAll(() => coverage.end())

/** Of a machine, those that cannot be taken. */
function impossible(machine: string): readonly string[] {
  const never = NEVER[machine] ?? {}
  return typeof never === 'string' ? [...(all.get(machine) ?? [])] : Object.values(never).flat()
}

const named = (machine: string, names: readonly string[]) => names.map((name) => `${machine}: ${name}`)

test('nothing else is found in these histories', () => {
  expect([...faults].filter(([, fault]) => fault !== undefined)).toEqual([])
})

test('no transition is taken that is said to be impossible', () => {
  const taken = [...coverage.taken].flatMap(([machine, names]) =>
    named(
      machine,
      impossible(machine).filter((name) => names.has(name)),
    ),
  )
  expect(taken).toEqual([])
})

test('every other transition is taken', () => {
  const missing = [...all].flatMap(([machine, names]) => {
    const excused = new Set(impossible(machine))
    return named(
      machine,
      [...names].filter((name) => !excused.has(name) && coverage.taken.get(machine)?.has(name) !== true),
    )
  })
  expect(missing).toEqual([])
})

test('what is listed is there', () => {
  const listed = Object.keys(NEVER).flatMap((machine) =>
    named(
      machine,
      impossible(machine).filter((name) => all.get(machine)?.has(name) !== true),
    ),
  )
  expect(listed).toEqual([])
})
