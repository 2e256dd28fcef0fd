/** What the simulation has found, each with the history that showed it. */
import { expect, test } from 'vitest'
import { play } from './simulate.js'
import { approves, asks, dies, manner, movesIn, off, revokes, stirs } from './tours/lodger.js'
import { create, prompt, slow, wait } from './tours/steps.js'

test('what is kept of a task goes with its session, whenever the power is lost', async () => {
  const { fault } = await play(1, [
    { do: 'create' },
    { do: 'prompt', session: 0, name: 1, delivery: 'queue', plays: [{ as: 'calls', words: 0, tools: ['task'], below: [] }] },
    { do: 'wait', ms: 1000 },
    { do: 'delete', session: 0 },
    { do: 'die', how: 'power', torn: 1 },
  ])
  expect(fault).toBeUndefined()
})

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

test('what a plugin asked to be written is not written once it was retired', async () => {
  const begun = [create, movesIn, approves, wait(), prompt(1), wait(5000)]
  const { fault } = await play(1, [...begun, slow(1000), stirs, wait(10), dies, wait(20_000)])
  expect(fault).toBeUndefined()
})

test('a plugin that finishes its calls, as it was switched off, is ended when its approval is taken back', async () => {
  const begun = [create, movesIn, approves, wait(5000), manner('late'), asks(1), wait()]
  const { fault } = await play(1, [...begun, off, wait(), revokes, wait(5000)])
  expect(fault).toBeUndefined()
})
