import { expect, test } from 'vitest'
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

/** Of each defect a history that shows it, and what of that is told. `npm run simulate -- --defect` finds such histories. */
const FOUND: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'a sync that is missing': ['a session that was acknowledged is there', [create, wait]],
  'told before the commit, which then fails': ['no durable event is missing or doubled on the wire', [create, says, waits, asks]],
  'an abort that is lost': ['an abort that was acknowledged ends its run', [create, abort, hangs, wait, abort]],
  'a prompt that is claimed twice': ['a prompt that was acknowledged is there exactly once', [create, says, waits, asks]],
  'a part that is left open': ['no part is open in a message that has ended', [create, asks]],
  'an answer that is accepted twice': ['a request is answered once', [create, asks, { do: 'answer', request: 0, how: 'once' }, kill]],
  'a cursor that skips one': ['no durable event is missing or doubled on the wire', [create, asks, { do: 'restart' }]],
  'a queue without a bound': ['the queue of a session is bounded', [create, hangs, { do: 'flood', session: 0, name: 2000 }]],
  'an event that is sent twice': ['sequences on the wire only grow, and each is a cursor', [create, says]],
  'runs that a start does not end': ['no run is left busy with nobody behind it', [create, hangs, kill]],
  'answers that a start does not close': ['a client that folded the events has what REST answers', [create, hangs, kill]],
  'prompts that a start does not take up': ['every prompt that was acknowledged gets its turn', [create, hangs, wait, waits, wait, kill]],
}

test('every defect that can be planted has a history that shows it', () => {
  expect(Object.keys(FOUND)).toEqual(Object.keys(DEFECTS))
})

test('nothing is found where nothing was planted', async () => {
  for (const [, history] of Object.values(FOUND)) {
    if (history.some((step) => step.do === 'flood')) continue // It takes long.
    expect((await play(1, history)).fault).toBeUndefined()
  }
})

test.each(Object.entries(FOUND))('%s is found', async (name, [says, history]) => {
  const { fault } = await play(1, history, DEFECTS[name]?.())
  expect(fault?.says).toMatch(new RegExp(`^${says}: `))
})
