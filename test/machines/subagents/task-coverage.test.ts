// Holds sessions-events §10.12.
import { describe, expect, it } from 'vitest'
import { taskMachine } from '../../../src/machines/subagents/task.machine.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const unwritten = { ...error('submit'), error: new SvcError('store.unavailable', 'The store cannot be written.') }
const events = [
  unwritten,
  { type: 'resume.requested' },
  { type: 'stop.requested' },
  { type: 'session.gone' },
  { type: 'service.stopping' },
  ...['submit', 'tell', 'end'].flatMap((id) => [done(id), error(id)]),
  done('follow', { ok: true, text: 'found' }),
  done('follow', { ok: false, error: 'no', text: '' }),
  error('follow'),
  done('record', 'told'),
  done('record', 'owed'),
  done('record', 'busy'),
  done('record', 'more'),
  error('record'),
  { type: 'xstate.after.retry.task.queued.pausing' },
  { type: 'xstate.after.retry.task.reporting.pausing' },
  { type: 'xstate.after.retry.task.reporting.waiting' },
  { type: 'xstate.after.retry.task.stopping.pausing' },
]
const key = ({ context: { ok, outcome } }: { readonly context: { readonly ok: boolean; readonly outcome: unknown } }) => [
  ok,
  outcome !== undefined,
]
const from = (start: 'queued' | 'running' | 'reporting') =>
  explore(taskMachine, { taskId: 'ses_2', from: start, ok: true }, events, { key })

describe('the machine of a task', () => {
  it('has every transition covered by generated paths', () => {
    const all = [from('queued'), from('running'), from('reporting')]
    const [first, ...others] = all.map((explored) => new Set(missing(explored)))
    expect([...(first ?? [])].filter((each) => others.every((other) => other.has(each)))).toEqual([])
  })

  it('ends as delivered only what has come to something, and as failed only what has not', () => {
    for (const snapshot of from('queued').snapshots) {
      const ends = ['delivered', 'failed', 'stopped', 'parked'].includes(String(snapshot.value))
      expect(snapshot.status === 'done').toBe(ends)
    }
    const okWhen = (end: string) =>
      new Set(
        from('queued')
          .snapshots.filter(({ value }) => value === end)
          .map(({ context }) => context.ok),
      )
    expect([okWhen('delivered'), okWhen('failed')]).toEqual([new Set([true]), new Set([false])])
  })
})
