import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { workflowEngineMachine } from '../../../src/machines/workflows/workflow-engine.machine.js'
import { workflowRunMachine } from '../../../src/machines/workflows/workflow-run.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })

describe('the machine of a workflow run', () => {
  const events = [
    ...['service.stopping', 'stop.requested', 'replaced', 'attempt.claimed', 'attempt.postponed', 'attempt.refused'].map((type) => ({
      type,
    })),
    ...['untilDue', 'prepare', 'createSession', 'submitPrompt', 'conclude'].flatMap((id) => [done(id), error(id)]),
    done('followSession', { ok: true }),
    done('followSession', { ok: false, error: 'the model said no' }),
    error('followSession'),
    error('reclaim'),
    { type: 'xstate.after.claimRetry.workflow-run.retry-waiting.pausing' },
    { type: 'xstate.after.claimRetry.workflow-run.ending.pausing' },
  ]
  const explored = (['claimed', 'waiting', 'left'] as const).map((from) =>
    explore(workflowRunMachine, { runId: 'wfr_1', from, isStopping: false }, events),
  )
  const all = explored.flatMap(({ snapshots }) => snapshots)

  it('has every transition covered by generated paths', () => {
    const taken = new Set(explored.flatMap((each) => [...each.taken]))
    expect(missing({ ...(explored[0] as (typeof explored)[0]), taken })).toEqual([])
  })

  it('ends as what became of it says, and is under way only where something of it may run', () => {
    for (const { status, value, context } of all.filter((snapshot) => snapshot.status === 'done')) {
      if (value === 'unrecorded' || value === 'parked') continue
      expect([status, context.end?.status ?? 'failed']).toEqual(['done', value])
    }
    for (const snapshot of all) {
      const isUnderWay = typeof snapshot.value === 'object' && ('ending' in snapshot.value || 'working' in snapshot.value)
      expect(snapshot.hasTag('underWay')).toBe(isUnderWay)
    }
  })

  it('goes on with nothing that an earlier process began', () => {
    const [, , left] = explored
    const values = left?.snapshots.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)))
    expect(new Set(values)).toEqual(new Set(['{"ending":"recording"}', 'interrupted', 'unrecorded']))
  })

  it('is recorded as soon as that is possible, unless the service waits for it', () => {
    const [claimed] = explored
    const pausing = claimed?.snapshots.filter(({ value }) => isDeepStrictEqual(value, { ending: 'pausing' })) ?? []
    expect(new Set(pausing.map(({ context }) => context.cut))).toEqual(new Set([undefined, 'replaced']))
    const unrecorded = all.filter(({ value }) => value === 'unrecorded').map(({ context }) => context.cut)
    expect(new Set(unrecorded)).toEqual(new Set(['left', 'stopping', 'switched-off']))
  })

  it('has completed once its session has, though it was to be cut', () => {
    const ends = all.filter(({ value }) => value === 'completed').map(({ context: { cut, end } }) => ({ cut, end }))
    const end = { status: 'completed', error: undefined }
    expect(ends).toEqual(
      expect.arrayContaining([
        { cut: undefined, end },
        { cut: 'stopping', end },
      ]),
    )
  })
})

describe('the machine of scheduled workflows', () => {
  const explored = explore(
    workflowEngineMachine,
    undefined,
    [
      ...['files.missed', 'catch-up.begun', 'service.stopping', 'stop.requested'].map((type) => ({ type })),
      ...[0, 1].map((waiting) => ({ type: 'files.followed', waiting })),
      ...['recover', 'follow', 'arm', 'beat', 'recheck', 'refuse', 'drain'].flatMap((id) => [done(id), error(id)]),
      { type: 'xstate.after.startDelay.workflow-engine.starting.late' },
      { type: 'xstate.after.startDelay.workflow-engine.serving.schedule.late' },
      { type: 'xstate.after.beatInterval.workflow-engine.serving.schedule.resting' },
      { type: 'xstate.after.recheckDelay.workflow-engine.serving.files.waiting' },
    ],
    { key: ({ context }) => [context.waiting, context.failure !== undefined] },
  )

  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('serves only between its start and its stop', () => {
    for (const snapshot of explored.snapshots) {
      const isServing = typeof snapshot.value === 'object' && 'serving' in snapshot.value
      expect(snapshot.hasTag('serving')).toBe(isServing)
      expect(snapshot.hasTag('started') && !isServing).toBe(false)
    }
  })
})
