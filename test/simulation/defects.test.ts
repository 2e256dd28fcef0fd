import { expect, test } from 'vitest'
import { LODGER_SHOWN } from './defects-lodger-shown.js'
import { GOALS_SHOWN } from './defects-goals.js'
import { OUTSIDE_SHOWN } from './defects-outside-shown.js'
import { TENANT_SHOWN } from './defects-tenants.js'
import { DEFECTS } from './defects.js'
import type { History, Step } from './history.js'
import { play } from './simulate.js'

const create: Step = { do: 'create' }
const wait: Step = { do: 'wait', ms: 1000 }
const abort: Step = { do: 'abort', session: 0, queue: 'go-on' }
const kill: Step = { do: 'die', how: 'kill', torn: 1 }
const says: Step = { do: 'prompt', session: 0, name: 1, delivery: 'queue', plays: [{ as: 'says', words: 2 }] }
const hangs: Step = { do: 'prompt', session: 0, name: 2, delivery: 'queue', plays: [{ as: 'hangs', words: 2 }] }
const asks: Step = { do: 'prompt', session: 0, name: 3, delivery: 'queue', plays: [{ as: 'calls', words: 1, tools: ['guarded', 'fails'] }] }
const waits: Step = { do: 'prompt', session: 0, name: 4, delivery: 'queue', plays: [{ as: 'says', words: 2 }] }

const guarded: Step = { do: 'prompt', session: 0, name: 5, delivery: 'queue', plays: [{ as: 'calls', words: 0, tools: ['guarded'] }] }
const delegates = (tool: 'task' | 'waits', as: 'says' | 'hangs'): Step => ({
  ...says,
  plays: [{ as: 'calls', words: 0, tools: [tool], below: [{ as, words: 1 }] }],
})
const saves = (schedule: 'hourly' | 'daily' | 'soon', as: 'says' | 'hangs'): Step => ({
  do: 'save',
  workflow: 0,
  name: 6,
  says: { schedule, concurrency: 'forbid', attempts: 1, active: true },
  plays: [{ as, words: 1 }],
})
const later: Step = { do: 'wait', ms: 31_000 }
const run: Step = { do: 'run', workflow: 0 }

/** Of each defect a history that shows it, and what of that is told. `npm run simulate -- --defect` finds such histories. */
const FOUND: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'a sync that is missing': ['a session that was acknowledged is there', [create, wait]],
  'told before the commit, which then fails': ['no durable event is missing or doubled on the wire', [create, says, waits, asks]],
  'an abort that is lost': ['an abort that was acknowledged ends its run', [create, abort, hangs, wait, abort]],
  'a prompt that is claimed twice': ['a prompt that was acknowledged is there exactly once', [create, says, waits, asks]],
  'a part that is left open': ['no part is open in a message that has ended', [create, asks]],
  'an answer that is accepted twice': ['a request is answered once', [create, asks, { do: 'answer', request: 0, how: 'once' }, kill]],
  'a cursor that skips one': ['a client that folded the events has what REST answers', [create, asks, { do: 'restart' }]],
  'a queue without a bound': ['the queue of a session is bounded', [create, { do: 'flood', session: 0, name: 2000 }]],
  'an event that is sent twice': ['sequences on the wire only grow, and each is a cursor', [create, says]],
  'an event that is left out': ['no durable event is missing or doubled on the wire', [create, says, waits, asks]],
  'a frame that comes late': ['sequences on the wire only grow, and each is a cursor', [create, says, waits, asks]],
  'a page of the log that lacks its first': ['no durable event is missing or doubled on the wire', [create, says, wait]],
  'a prompt that is acknowledged and not admitted': ['a prompt that was acknowledged is there exactly once', [create, says, waits]],
  'a refusal that counts as an answer': [
    'a tool is executed where somebody or a rule allows it',
    [create, guarded, { do: 'answer', request: 0, how: 'reject' }, wait],
  ],
  'a prompt that is admitted again': [
    'a prompt that was acknowledged is there exactly once',
    [create, hangs, waits, { do: 'repeat', name: 4 }],
  ],
  'messages that are taken back and stay': [
    'a client that folded the events has what REST answers',
    [create, says, wait, { do: 'undo', session: 0 }],
  ],
  'a run whose end is lost': ['no run is left busy with nobody behind it', [create, says, wait]],
  'a request that is withdrawn and stays': ['a request is answered once', [create, guarded, wait, abort, kill]],
  'an answer that does not wait for its sync': [
    'a prompt that was acknowledged is there exactly once',
    [create, says, { do: 'die', how: 'power', torn: 1 }],
  ],
  'a commit that fails and is told as done': [
    'no durable event is missing or doubled on the wire',
    [{ do: 'fill', how: 'ENOSPC' }, create, wait],
  ],
  'runs that a start does not end': ['no run is left busy with nobody behind it', [create, hangs, kill]],
  'answers that a start does not close': ['a client that folded the events has what REST answers', [create, hangs, kill]],
  'prompts that a start does not take up': ['every prompt that was acknowledged gets its turn', [create, hangs, wait, waits, wait, kill]],
  'an abort that leaves the tasks of its run': [
    'an abort that was acknowledged ends the tasks its run waited for',
    [create, delegates('waits', 'hangs'), wait, abort, wait],
  ],
  'an outcome that is told twice': ['what came of a task is told to who delegated it once', [create, delegates('task', 'says'), wait]],
  'an outcome that is not told': ['what came of a task is told to who delegated it at last', [create, delegates('task', 'says'), wait]],
  'an outcome that is told again after a start': [
    'what came of a task is told to who delegated it once',
    [create, delegates('task', 'says'), wait, kill],
  ],
  'tasks that a start does not take up': ['no task goes on once nothing is under way', [create, delegates('task', 'hangs'), wait, kill]],
  'an occurrence that is run again after a start': ['an occurrence has one run', [create, saves('soon', 'says'), later, kill]],
  'a pause that a start forgets': [
    'a workflow that was paused begins no run by its schedule',
    [create, saves('hourly', 'says'), later, { do: 'pause', workflow: 0 }, kill, { do: 'wait', ms: 125_000 }],
  ],
  'runs of workflows that a start does not end': [
    'every run of a workflow ends',
    [create, saves('hourly', 'hangs'), wait, run, wait, kill],
  ],
  'a prompt of a run that is submitted twice': [
    'the prompt of a run of a workflow is there once at most',
    [create, saves('hourly', 'says'), wait, run, wait],
  ],
  'the end of a run of a workflow that is lost': [
    'a workflow overlaps itself no more than it says',
    [create, saves('hourly', 'says'), wait, run, wait],
  ],
  'a call that is executed twice': [
    'a call of a tool is executed once',
    [create, { ...asks, plays: [{ as: 'calls', words: 0, tools: ['answers'] }] }],
  ],
  'a permission that is not asked for': ['a tool is executed where somebody or a rule allows it', [create, guarded]],
  'a schedule in the zone of the server': [
    'a scheduled run is of a moment that its file names, in the zone that it names',
    [create, saves('daily', 'says'), { do: 'wait', ms: 9_000_000 }],
  ],
  'a workflow that overlaps itself against its file': [
    'a workflow overlaps itself no more than it says',
    [saves('hourly', 'hangs'), later, run, run],
  ],
  'a deletion that is acknowledged and not done': [
    'a session whose deletion was acknowledged is gone',
    [create, { do: 'delete', session: 0 }, wait],
  ],
  'an answer that is remembered for everything': [
    'a tool is executed where somebody or a rule allows it',
    [create, guarded, { do: 'answer', request: 0, how: 'always' }, wait, { ...guarded, name: 7 }],
  ],
  'tasks that stay when their session goes': [
    'nothing is kept of a task whose session is gone',
    [create, delegates('task', 'says'), wait, { do: 'delete', session: 0 }, wait],
  ],
  ...LODGER_SHOWN,
  ...TENANT_SHOWN,
  ...OUTSIDE_SHOWN,
  ...GOALS_SHOWN,
}

test('every defect that can be planted has a history that shows it', () => {
  expect(Object.keys(FOUND)).toEqual(Object.keys(DEFECTS))
})

test('nothing is found where nothing was planted', async () => {
  // Some histories show several defects.
  const histories = new Map(Object.values(FOUND).map(([, history]) => [JSON.stringify(history), history]))
  for (const history of histories.values()) expect((await play(1, history)).fault).toBeUndefined()
})

test.each(Object.entries(FOUND))('%s is found', async (name, [says, history]) => {
  const { fault } = await play(1, history, DEFECTS[name]?.())
  expect(fault?.says).toMatch(new RegExp(`^${says}: `))
})
