/** What the simulation has found, each with the history that showed it. */
import { expect, test } from 'vitest'
import { play } from './simulate.js'

test('the end of a run of a workflow is recorded once the disk has room again', async () => {
  const { fault } = await play(10, [
    {
      do: 'save',
      workflow: 0,
      name: 27,
      says: { schedule: 'soon', concurrency: 'forbid', attempts: 2, active: false },
      plays: [{ as: 'fills', words: 0 }],
    },
    { do: 'run', workflow: 0 },
    { do: 'fill', how: 'EIO' },
    { do: 'wait', ms: 1000, turns: 3 },
  ])
  expect(fault).toBeUndefined()
})
