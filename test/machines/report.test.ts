import { describe, expect, it } from 'vitest'
import { setup } from 'xstate'
import { ENDS, LEAVING, untilDone } from '../../src/machines/report.js'
import { requiredPromise } from '../../src/machines/required.js'
import { explore, missing } from './paths.js'

interface Owed {
  readonly jobId: string
}

/** A report and nothing else. */
const reportMachine = setup({
  types: {
    input: {} as Owed,
    context: {} as Owed,
    events: {} as { type: 'resume.requested' } | { type: 'session.gone' } | { type: 'service.stopping' },
    tags: {} as 'owing',
  },
  actors: { tell: requiredPromise<void, Owed>('tell') },
  delays: { retry: 1 },
}).createMachine({
  id: 'report',
  context: ({ input }) => input,
  initial: 'telling',
  on: LEAVING,
  states: {
    ...untilDone(
      ['telling', 'pausing'],
      { src: 'tell', input: ({ context }: { context: Owed }) => context, onDone: { target: 'delivered' } },
      { tags: ['owing'], on: { 'resume.requested': { target: 'failed' } } },
    ),
    ...ENDS,
  },
})

const events = [
  { type: 'resume.requested' },
  { type: 'session.gone' },
  { type: 'service.stopping' },
  { type: 'xstate.done.actor.tell', actorId: 'tell' },
  { type: 'xstate.error.actor.tell', actorId: 'tell', error: new Error('the disk is full') },
  { type: 'xstate.after.retry.report.pausing' },
]
const explored = explore(reportMachine, { jobId: 'job_1' }, events)

describe('a report', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('is owed until it was told, dropped or put off, also while it is not being told', () => {
    const lives = explored.snapshots.map(
      (snapshot) => `${String(snapshot.value)}: ${snapshot.status}${snapshot.hasTag('owing') ? ', owing' : ''}`,
    )
    expect(new Set(lives)).toEqual(
      new Set(['telling: active, owing', 'pausing: active, owing', 'delivered: done', 'failed: done', 'stopped: done', 'parked: done']),
    )
  })

  it('is told again after a pause, as long as it cannot be recorded', () => {
    const told = explored.paths.find((path) => path.at(-1) === 'xstate.done.actor.tell')
    expect(told).toEqual(['xstate.done.actor.tell'])
    expect([...explored.taken].filter((each) => each.startsWith('report.pausing --xstate.after'))).toEqual([
      'report.pausing --xstate.after.retry.report.pausing[0]--> report.telling',
    ])
  })
})
