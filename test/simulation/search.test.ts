/** Planted defects are found by search, from any seed. */
import { expect, test } from 'vitest'
import { sample, WHOLE } from '../campaigns/scale.js'
import { PATIENCE } from '../fakes/patience.js'
import { DEFECTS } from './defects.js'
import { drawn, searchFor, show } from './search.js'
import { play } from './simulate.js'
import { KEPT } from './searched.js'

/** Every run of the tests searches from another. */
const NEW = Number(process.env['SVC_TEST_SEED'] ?? Date.now() % 1_000_000)
/** Seconds of processor time, and steps. */
const MINUTE = 60
const SHORT = 30
/** What nearly every history shows. */
const QUICK = ['an event that is sent twice', 'an event that is left out', 'a prompt that is acknowledged and not admitted'] as const
const HISTORIES = 20

const planted = (name: string) => DEFECTS[name] ?? (() => ({}))

test.each(sample(Object.entries(KEPT), 2))('%s is shown by its seed', async (name, [seed, says]) => {
  const { fault } = await play(seed, drawn(seed), planted(name)())
  expect(fault?.says.startsWith(`${says}: `)).toBe(true)
})

test(`a defect is found by search from the seed ${NEW} on`, async () => {
  const name = QUICK[NEW % QUICK.length] ?? QUICK[0]
  let left = HISTORIES
  expect(await searchFor(planted(name), NEW, () => left-- === 0)).toBeDefined()
})

// Not there in a sample, where a skipped test would be a failure.
test.each(WHOLE ? Object.keys(DEFECTS) : [])(
  `from the seed ${NEW} on, in a minute of processor time: %s`,
  async (name) => {
    const shown = await show(planted(name), NEW, MINUTE)
    expect(shown?.shrunk.history.length).toBeLessThan(SHORT)
  },
  10 * PATIENCE,
)
