// Holds subsystems k.
import { describe, expect, it } from 'vitest'
import { jobMachine } from '../../../src/machines/shell/job.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const events = [
  { type: 'stop.requested', isSilent: false },
  { type: 'stop.requested', isSilent: true },
  { type: 'session.gone' },
  { type: 'service.stopping' },
  ...['takeTurn', 'prepare', 'report'].flatMap((id) => [done(id), error(id)]),
  ...['run', 'settle'].flatMap((id) => [done(id, 'completed'), done(id, 'cancelled'), done(id, 'timed_out'), error(id)]),
  { type: 'xstate.after.retry.job.reporting.pausing' },
]
interface Known {
  readonly context: { readonly ending: unknown; readonly isSilent: boolean }
}
const key = ({ context: { ending, isSilent } }: Known) => [ending, isSilent]
const fresh = explore(jobMachine, { jobId: 'job_1' }, events, { key })
const left = explore(jobMachine, { jobId: 'job_1', ending: 'interrupted' }, events, { key })

describe('the machine of a job', () => {
  it('has every transition covered by generated paths', () => {
    const others = new Set(missing(left))
    expect(missing(fresh).filter((each) => others.has(each))).toEqual([])
  })

  it('ends as it has come to an end, and never starts what an earlier server left', () => {
    const endings = (state: string) =>
      new Set([...fresh.snapshots, ...left.snapshots].filter(({ value }) => value === state).map(({ context }: Known) => context.ending))
    expect(endings('delivered')).toEqual(new Set(['completed']))
    expect(endings('failed')).toEqual(new Set(['error', 'timed_out', 'interrupted']))
    for (const snapshot of fresh.snapshots)
      expect(snapshot.status === 'done').toBe(['delivered', 'failed', 'stopped', 'parked'].includes(String(snapshot.value)))
    for (const snapshot of left.snapshots) expect(snapshot.hasTag('alive')).toBe(false)
  })
})
