/** Who searches has what was said before, however late anybody tells of it, and waits for nothing that is said later. */
import { expect, it } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import { startIndexer } from '../../../src/plugins/semantic/indexer.js'
import { createFakeEffects } from '../../fakes/effects.js'

/** An index that is up with everything after each step; what is in `during` is called in one each. */
async function start() {
  let steps = 0
  const during: (() => void)[] = []
  const search = {
    open: () => ({ isNew: false }),
    step: () => {
      steps += 1
      during.shift()?.()
      return 'done' as const
    },
    discard: () => undefined,
    close: () => undefined,
    useVectors: () => undefined,
    unembedded: () => [],
    putVectors: () => undefined,
    parts: () => {
      throw new Error('nobody looks')
    },
  }
  const indexer = startIndexer({ effects: createFakeEffects(), search, actors: { add: () => undefined } }, nextTurn)
  await indexer.ready()
  return { indexer, during, steps: () => steps }
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
  const { indexer, during, steps } = await start()
  during.push(() => indexer.changed())
  await indexer.ready() // on a clock that stands still
  expect(steps()).toBe(2)
  await indexer.ready()
  expect(steps()).toBe(3)
  indexer.stop()
})
