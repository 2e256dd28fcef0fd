/** What the simulation has found, each with the history that showed it. */
import { expect, test } from 'vitest'
import { play } from './simulate.js'

test('the end of a run of a workflow is recorded once the disk has room again', async () => {
  const { fault } = await play(10, [
    { do: 'create' },
    {
      do: 'save',
      workflow: 0,
      name: 1,
      says: { schedule: 'hourly', concurrency: 'forbid', attempts: 1, active: true },
      plays: [{ as: 'hangs', words: 1 }],
    },
    { do: 'wait', ms: 1000 },
    { do: 'run', workflow: 0 },
    { do: 'wait', ms: 1000 },
    { do: 'fill', how: 'ENOSPC' },
    { do: 'release', held: 0, how: 'finishes' },
    { do: 'wait', ms: 1000 },
  ])
  expect(fault).toBeUndefined()
})
