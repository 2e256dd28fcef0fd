/** Who searches has what was said before, however late anybody tells of it, and waits for nothing that is said later. What is said meanwhile gathers. */
import { expect, it } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import { startIndexer } from '../../../src/plugins/semantic/indexer.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const { gathering, longest, backlog, backlogText } = LIMITS.search

/** An index that is up with everything after each step; what is in `during` is called in one each. */
async function start() {
  let said = 0
  const looks: number[] = []
  const during: (() => void)[] = []
  const search = {
    open: () => ({ isNew: false }),
    step: (upTo = 0) => {
      looks.push(upTo)
      during.shift()?.()
      return 'done' as const
    },
    head: () => said,
    discard: () => undefined,
    close: () => undefined,
    useVectors: () => undefined,
    unembedded: () => [],
    putVectors: () => undefined,
    parts: () => {
      throw new Error('nobody looks')
    },
  }
  const effects = createFakeEffects()
  let timers = 0
  const clock = {
    ...effects.clock,
    setTimeout: (run: () => void, ms: number) => {
      timers += 1
      return effects.clock.setTimeout(run, ms)
    },
  }
  const indexer = startIndexer({ effects: { ...effects, clock }, search, actors: { add: () => undefined } }, nextTurn)
  await indexer.ready()
  return {
    indexer,
    during,
    clock: effects.clock,
    steps: () => looks.length,
    looks,
    timers: () => timers,
    say(characters?: number) {
      said += 1
      indexer.changed(characters)
    },
    /** Somebody says something that nobody has told of. */
    commit: () => void (said += 1),
  }
}

it('looks behind what it has read for each search, once for those that come together', async () => {
  const { indexer, steps } = await start()
  expect(steps()).toBe(1)
  await indexer.ready() // said just now, and nobody has told of it
  expect(steps()).toBe(2)
  await Promise.all([indexer.ready(), indexer.ready(), indexer.ready()])
  expect(steps()).toBe(3)
  indexer.stop()
})

it('does not keep a search until others have said more', async () => {
  const { indexer, during, say, steps } = await start()
  during.push(() => say())
  await indexer.ready() // on a clock that stands still
  expect(steps()).toBe(2)
  await indexer.ready()
  expect(steps()).toBe(3)
  indexer.stop()
})

it('looks once more for a search that comes when it has begun, if anything was said since, and for nobody else', async () => {
  const { indexer, during, commit, looks } = await start()
  let second: Promise<void> | undefined
  during.push(() => {
    commit()
    second = indexer.ready()
  })
  await indexer.ready()
  await second
  expect(looks).toEqual([0, 0, 1])
  during.push(() => void (second = indexer.ready()))
  await indexer.ready()
  await second
  expect(looks).toEqual([0, 0, 1, 1])
  indexer.stop()
})

it('waits while something is said again and again, but not for ever', async () => {
  const { clock, indexer, say, steps } = await start()
  say()
  for (let waited = 0; waited < longest - gathering; waited += gathering / 2) {
    say()
    await clock.advanceAsync(gathering / 2)
    expect(steps()).toBe(1)
  }
  await clock.advanceAsync(gathering)
  expect(steps()).toBe(2)
  indexer.stop()
})

it('goes on a moment after the last', async () => {
  const { clock, indexer, say, steps } = await start()
  say()
  await clock.advanceAsync(gathering)
  expect(steps()).toBe(2)
  say()
  say()
  await clock.advanceAsync(gathering)
  expect(steps()).toBe(2)
  await clock.advanceAsync(gathering)
  expect(steps()).toBe(3)
  indexer.stop()
})

it.each([
  ['so many changes', backlog, 0],
  ['so much text', 8, backlogText / 8],
])('goes on at once when %s wait that a search would have too much to catch up with', async (_what, count, characters) => {
  const { indexer, say, looks } = await start()
  for (let told = 1; told < count; told++) say(characters)
  await nextTurn()
  await nextTurn()
  expect(looks).toEqual([0])
  say(characters)
  await nextTurn()
  await nextTurn()
  expect(looks).toEqual([0, count])
  for (let told = 1; told < count; told++) say(characters) // counted anew
  await nextTurn()
  await nextTurn()
  expect(looks).toEqual([0, count])
  indexer.stop()
})

it('sets no timer for each change', async () => {
  const { clock, indexer, say, timers } = await start()
  say()
  say()
  const before = timers()
  for (let told = 2; told < backlog - 2; told++) say()
  expect(timers()).toBe(before)
  await clock.advanceAsync(gathering)
  say()
  expect(timers()).toBe(before + 2)
  indexer.stop()
})
