import { expect, test } from 'vitest'
import { createRandom } from '../../src/simulation/random.js'
import { PATIENCE } from '../fakes/patience.js'
import { times } from '../campaigns/scale.js'
import { widened } from './draw-wide.js'
import { draw } from './history.js'
import { play } from './simulate.js'
import { shrink, testOf } from './shrink.js'

/** Every run of the tests looks at others; a seed that is named is played again. */
const NEW = Number(process.env['SVC_TEST_SEED'] ?? Date.now() % 1_000_000)
const STEPS = 120
const HISTORIES = times(7, 400)

test('the same seed gives the same trace, byte for byte', async () => {
  for (const seed of [1, 2]) {
    const history = widened(seed, draw(createRandom(seed), STEPS))
    const first = await play(seed, history)
    expect(first.fault).toBeUndefined()
    expect(await play(seed, history)).toEqual(first)
  }
})

test(
  `what must hold of every server holds in histories from the seed ${NEW} on`,
  async () => {
    for (let seed = NEW; seed < NEW + HISTORIES; seed++) {
      const history = widened(seed, draw(createRandom(seed), STEPS))
      const { fault, trace } = await play(seed, history)
      process.stdout.write(`simulated seed ${seed}, trace ${trace}\n`)
      expect(fault && testOf(seed, await shrink(seed, history))).toBeUndefined()
    }
  },
  PATIENCE * (3 + HISTORIES / 10),
)
