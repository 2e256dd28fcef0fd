/** What the simulation has found, each with the history that showed it. */
import { expect, test, vi } from 'vitest'
import type { History, Play } from './history.js'
import { play } from './simulate.js'
import { goal } from './tours/goals.js'
import { approves, asks, dies, manner, movesIn, off, revokes, stirs } from './tours/lodger.js'
import { asksGuest, guest } from './tours/outside.js'
import { create, kill, prompt, slow, wait, when } from './tours/steps.js'

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

test('what is kept of a task goes with its session, though the server stops', async () => {
  const below = [{ as: 'calls', words: 0, tools: ['holds'] }] as const
  const { fault } = await play(300_028, [
    create,
    { do: 'stop', session: 2 },
    {
      do: 'prompt',
      session: 0,
      name: 3,
      delivery: 'queue',
      plays: [
        { as: 'calls', words: 0, tools: ['task', 'late'], below },
        { as: 'calls', words: 0, tools: ['late'] },
      ],
    },
    wait(20),
    { do: 'delete', session: 1 },
    { do: 'restart' },
  ])
  expect(fault).toBeUndefined()
})

test('a server that dies in a moment in which it is to be stopped leaves what it had synced', async () => {
  const says = { concurrency: 'forbid', attempts: 1, active: true } as const
  const { fault } = await play(700_017, [
    { do: 'save', workflow: 2, name: 68, says: { schedule: 'hourly', ...says }, plays: [{ as: 'calls', words: 0, tools: ['guarded'] }] },
    { do: 'when', machine: 'interaction', state: 'asked.withdrawing', nth: 2, steps: [{ do: 'restart' }] },
    { do: 'create', untitled: false },
    { do: 'run', workflow: 2 },
    { do: 'save', workflow: 0, name: 105, says: { schedule: 'soon', ...says }, plays: [{ as: 'calls', words: 0, tools: ['question'] }] },
    wait(31_000),
    { do: 'die', how: 'power', torn: 1 },
  ])
  expect(fault).toBeUndefined()
})

test('a task whose prompt was admitted, which could not be noted, ends, and nothing goes round for it', async () => {
  const { fault } = await play(310_068, [
    {
      do: 'save',
      workflow: 2,
      name: 28,
      says: { schedule: 'hourly', concurrency: 'forbid', attempts: 1, active: true },
      plays: [{ as: 'calls', words: 0, tools: ['task'], below: [{ as: 'calls', words: 0, tools: ['fails'] }] }],
    },
    { do: 'run', workflow: 2 },
    { do: 'compact', session: 2 },
    { do: 'fill', how: 'EIO' },
    wait(1000),
    { do: 'calm' },
  ])
  expect(fault).toBeUndefined()
})

const HOURLY = { schedule: 'hourly', concurrency: 'forbid', attempts: 1, active: true } as const
const SOON = { ...HOURLY, schedule: 'soon' } as const

test('built-in plugins stay on while what the configuration says now cannot be told', async () => {
  const { fault } = await play(320_199, [
    { do: 'save', workflow: 1, name: 13, says: SOON, plays: [{ as: 'hangs', words: 0 }] },
    { do: 'delete', session: 0 },
    { do: 'create', untitled: false },
    wait(1000),
    { do: 'prompt', session: 1, name: 23, delivery: 'steer', plays: [{ as: 'hangs', words: 0 }] },
    { do: 'prompt', session: 2, name: 24, delivery: 'queue', plays: [] },
    wait(31_000),
    { do: 'abort', session: 2, queue: 'go-on', turns: 2 },
    { do: 'fill', how: 'EIO' },
    wait(31_000),
    { do: 'calm' },
  ])
  expect(fault).toBeUndefined()
})

test('workflows that could not start, as the disk failed, start when it does no more', async () => {
  const { fault } = await play(320_169, [
    { do: 'save', workflow: 2, name: 71, says: HOURLY, plays: [] },
    { do: 'when', machine: 'workflow-engine', state: 'starting.recovering', nth: 2, steps: [{ do: 'fill', how: 'EIO' }] },
    { do: 'restart' },
    { do: 'run', workflow: 2 },
    { do: 'die', how: 'kill', torn: 1 },
  ])
  expect(fault).toBeUndefined()
})

test('a paused workflow stays paused though its file could not be looked at for a while', async () => {
  const { fault } = await play(320_337, [
    { do: 'save', workflow: 1, name: 17, says: HOURLY, plays: [] },
    wait(31_000),
    { do: 'pause', workflow: 1 },
    { do: 'restart' },
    { do: 'fill', how: 'EIO' },
    wait(31_000),
    { do: 'free' },
    wait(31_000),
    { do: 'restart' },
    { do: 'jump', ms: 86_400_000 },
    wait(31_000),
  ])
  expect(fault).toBeUndefined()
})

test('the turn of an external agent that is over is told nothing more', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  try {
    const { fault } = await play(1, [create, guest, wait(), asksGuest(1), wait(2000)])
    expect(fault).toBeUndefined()
    expect(warn).not.toHaveBeenCalled()
  } finally {
    warn.mockRestore()
  }
})

test('a session of an external agent that was acknowledged survives a loss of power', async () => {
  const { fault } = await play(600_013, [guest, { do: 'die', how: 'power', torn: 1 }])
  expect(fault).toBeUndefined()
})

test('a compaction that waits for a slow disk ends once it is aborted, and changes nothing later', async () => {
  const aborted: History = [create, { do: 'slow', ms: 1000 }, { do: 'compact', session: 0 }, { do: 'abort', session: 0, queue: 'hold' }]
  const { fault } = await play(20_261_168, [...aborted, wait(), wait(60_000)])
  expect(fault).toBeUndefined()
})

test('a workflow whose plugins take their time to start runs', async () => {
  const { fault } = await play(777_156, [
    { do: 'lodge', how: 'moves-in' },
    { do: 'save', workflow: 0, name: 105, says: HOURLY, plays: [] },
    { do: 'manner', is: 'dawdles' },
    { do: 'trust', how: 'approves' },
    { do: 'run', workflow: 0 },
  ])
  expect(fault).toBeUndefined()
})

test('a goal goes on after a kill that took its run before anything was said', async () => {
  const { fault } = await play(1, [create, wait(), goal('sets'), when('run: working.preparing', kill), prompt(1), wait(5000)])
  expect(fault).toBeUndefined()
})

test('a task that is asked something by itself while it is aborted runs for that', async () => {
  const below: readonly Play[] = [{ as: 'hangs', words: 0 }]
  const { fault } = await play(888_209, [
    { do: 'create', untitled: true },
    { do: 'prompt', session: 0, name: 42, delivery: 'queue', plays: [{ as: 'calls', words: 0, tools: ['waits'], below }] },
    wait(),
    create,
    { do: 'abort', session: 0, queue: 'clear' },
    { do: 'nudge', name: 59, plays: [{ as: 'calls', words: 0, tools: ['answers'] }] },
  ])
  expect(fault).toBeUndefined()
})

test('a goal that is set in the moment in which a run is aborted rests only where its own was', async () => {
  const { fault } = await play(1_281_195, [
    { do: 'create' },
    when('run: working.preparing', { do: 'abort', session: 0, queue: 'go-on' }),
    { do: 'goal', session: 0, how: 'sets', name: 900_022 },
    { do: 'prompt', session: 0, name: 900_023, delivery: 'queue', plays: [] },
    { do: 'prompt', session: 2, name: 900_027, delivery: 'queue', plays: [{ as: 'fails', words: 0, retryable: false }] },
    { do: 'goal', session: 2, how: 'sets', name: 900_029 },
  ])
  expect(fault).toBeUndefined()
})

test('a server that dies as a step of the history ends is followed by another', async () => {
  const { fault } = await play(1_280_523, [
    when('goal: following', kill),
    create,
    { do: 'goal', session: 2, how: 'sets', name: 900_031, turns: 0 },
  ])
  expect(fault).toBeUndefined()
})

test('nothing is asked of a server that is dead', async () => {
  const { fault } = await play(991_223, [
    { do: 'reach', who: 'guest' },
    asksGuest(800_030),
    { do: 'when', machine: 'session', state: 'idle', nth: 2, steps: [{ do: 'fill', how: 'EROFS' }] },
    when('external-turn: prompting.cancelling', { do: 'delete', session: 1 }),
    { do: 'guest-manner', is: 'refuses' },
    asksGuest(800_074),
    wait(),
    prompt(75),
    asksGuest(800_076),
    wait(310_000),
    create,
    { do: 'guest-manner', is: 'stray' },
    asksGuest(800_084),
    wait(20),
    { do: 'die', how: 'power', torn: 1 },
  ])
  expect(fault).toBeUndefined()
})

test('content that is approved in the moment in which another is not any more comes in its place as an update does', async () => {
  const { fault } = await play(379_348, [
    create,
    movesIn,
    approves,
    { do: 'prompt', session: 2, name: 700_001, delivery: 'queue', plays: [] },
    movesIn,
    manner('dawdles'),
    revokes,
    approves,
    wait(31_000),
  ])
  expect(fault).toBeUndefined()
})
