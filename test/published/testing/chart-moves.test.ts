import { type AnyStateMachine, initialTransition, transition } from 'xstate'
import { describe, expect, it } from 'vitest'
import { statesOf } from '../../../src/actors/inspector/actors.js'
import { workflowEngineMachine } from '../../../src/machines/workflows/workflow-engine.machine.js'
import { workspaceMachine } from '../../../src/machines/plugin/workspace.machine.js'
import { statesAfter, statesAtStart, stateKey } from '../../../src/published/testing/replay/chart-moves.js'

const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const session = (isVisit: boolean) => ({ sessionId: 'ses_1', isVisit })

const WALKS: readonly (readonly [string, AnyStateMachine, readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[]])[] = [
  [
    'workspace',
    workspaceMachine,
    [
      { type: 'look.requested' },
      { type: 'files.changed' },
      ...[undefined, session(true), session(false)].map((each) => ({ type: 'used', session: each })),
      { type: 'session.ended', sessionId: 'ses_1' },
      done('look', { unwatched: [], perSession: false }),
      error('look'),
      { type: 'xstate.after.debounce.workspace.tracked.files.dirty' },
      { type: 'xstate.after.freshness.workspace.tracked.files.watched' },
      { type: 'xstate.after.idleTeardown.workspace.tracked.sessions.none' },
      { type: 'stop.requested' },
    ],
  ],
  [
    'workflow-engine',
    workflowEngineMachine,
    [
      ...['recover', 'follow', 'arm', 'recheck', 'drain'].flatMap((id) => [done(id), error(id)]),
      ...[0, 1].map((waiting) => ({ type: 'files.followed', waiting })),
      { type: 'files.missed' },
      { type: 'catch-up.begun' },
      { type: 'xstate.after.recheckDelay.workflow-engine.serving.files.waiting' },
      { type: 'xstate.after.beatInterval.workflow-engine.serving.schedule.resting' },
      { type: 'service.stopping' },
      { type: 'stop.requested' },
    ],
  ],
]

describe('what a chart with parallel regions can lead to', () => {
  it.each(WALKS)('holds every state that %s comes to', (_, machine, events) => {
    const [first] = initialTransition(machine, { directory: '/project' })
    expect(statesAtStart(machine)).toContain(stateKey(statesOf(first)))
    const seen = new Map([[stateKey(statesOf(first)), first]])
    for (const [before, snapshot] of seen) {
      for (const event of events) {
        const [next] = transition(machine, snapshot, event)
        const after = stateKey(statesOf(next))
        if (after === before) continue
        expect([before, event.type, [...statesAfter(machine, statesOf(snapshot), event.type)]]).toEqual([
          before,
          event.type,
          expect.arrayContaining([after]),
        ])
        if (!seen.has(after) && next.status === 'active') seen.set(after, next)
      }
    }
    expect(seen.size).toBeGreaterThan(6)
  })

  it('leaves the other region where it is', () => {
    const at = ['tracked.files.watched', 'tracked.sessions.some']
    expect([...statesAfter(workspaceMachine, at, 'files.changed')]).toContain('tracked.files.dirty, tracked.sessions.some')
    expect(statesAfter(workspaceMachine, at, 'stop.requested')).toEqual(new Set(['stopped']))
    expect(statesAfter(workspaceMachine, at, 'unheard.of')).toEqual(new Set())
    expect(statesAfter(workspaceMachine, ['tracked.files.nowhere'], 'stop.requested')).toEqual(new Set())
  })
})
