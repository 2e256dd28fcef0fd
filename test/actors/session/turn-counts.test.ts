// Holds what a turn and a step with a tool cost, counted: what makes them dearer has to raise a number here.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService, type PlayedStep } from '../../fakes/service.js'
import { type Counts, counted } from '../../fakes/counted.js'

const look = { id: 'look', invoke: async () => ({ title: 'Look', output: 'seen' }) }
const SAID = 'one two three four five six seven eight nine ten'

interface Told extends Counts {
  events: number
}

const TIMES = 3

/** The least of some: what goes on beside while others use the processor is counted as well. */
async function leastOf(count: () => Promise<Counts>): Promise<Counts> {
  const least = await count()
  for (let more = 1; more < TIMES; more++) {
    const next = await count()
    for (const name of Object.keys(least) as (keyof Counts)[]) least[name] = Math.min(least[name], next[name])
  }
  return least
}

/** What a turn of these steps costs a session that has had two like it. */
async function costOf(steps: (turn: string) => PlayedStep[]): Promise<Told> {
  const service = await startTestService({ tools: [look] })
  const id = await service.session()
  async function turn(name: string): Promise<void> {
    service.steps.push(...steps(name))
    await service.prompt(id, name)
    await service.idle(id)
  }
  await turn('first')
  await turn('second')
  const before = service.events.length
  const counts = await leastOf(() => counted(() => turn('third'), service.effects.root))
  return { ...counts, events: (service.events.length - before) / TIMES }
}

const stepsWithTools = (count: number) => (turn: string) => [
  ...Array.from({ length: count }, (_, at) => calls({ callId: `${turn}${at}`, tool: 'look' })),
  says(SAID),
]

/** None of `found` is more than it may be; what has become less has its bound lowered with it. */
function expectAtMost<C extends Counts>(found: C, bounds: C): void {
  const excess = Object.entries(found).filter(([name, count]) => count > bounds[name as keyof C])
  expect(excess).toEqual([])
}

describe('what is done', () => {
  it('for a turn without tools', async () => {
    const plain = await costOf(stepsWithTools(0))
    expectAtMost(plain, { events: 20, statements: 31, commits: 4, promises: 182, steps: 8, texts: 64, characters: 9_030 })
  })

  it('for a session that is made, and for eight that are made at once', async () => {
    const service = await startTestService()
    const make = async (count: number) => void (await Promise.all(Array.from({ length: count }, () => service.session())))
    await make(2)
    // Without a disk the sync that all of them wait for is a commit of its own.
    const [one, eight] = [await leastOf(() => counted(() => make(1))), await leastOf(() => counted(() => make(8)))]
    expect([one.commits, eight.commits]).toEqual([2, 2])
    expectAtMost(one, { statements: 9, commits: 2, promises: 33, steps: 0, texts: 3, characters: 376 })
    // Which of the eight wait for each other differs from time to time, by some promises.
    expectAtMost(eight, { statements: 16, commits: 2, promises: 200, steps: 0, texts: 24, characters: 3_020 })
  })

  it('for a turn with five calls, one after the other', async () => {
    const withTools = await costOf(stepsWithTools(5))
    expectAtMost(withTools, { events: 65, statements: 101, commits: 14, promises: 426, steps: 48, texts: 214, characters: 28_680 })
  })
})

/** Bytes of the log: a page, and what is said of it. */
const PAGE = 4096 + 24

it('no more pages of the database are written for a turn than its rows and their indexes need', async () => {
  const effects = createFakeEffects()
  const store = openStore({ directory: effects.paths.state, now: () => effects.clock.now() })
  const service = await startTestService({ effects, store })
  const id = await service.session()
  const written = async (): Promise<number> => {
    const size = () => statSync(join(effects.paths.state, 'agent.sqlite3-wal')).size
    const before = size()
    service.steps.push(...stepsWithTools(0)('turn'))
    await service.prompt(id, 'turn')
    await service.idle(id)
    return (size() - before) / PAGE
  }
  await written()
  const pages: number[] = []
  for (let turn = 0; turn < 7; turn++) pages.push(await written())
  // A turn that makes a tree higher, or divides a page, writes some more.
  expect(Math.min(...pages)).toBeLessThanOrEqual(37)
})
