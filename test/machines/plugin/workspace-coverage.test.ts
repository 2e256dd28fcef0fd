import { describe, expect, it } from 'vitest'
import { workspaceMachine } from '../../../src/machines/plugin/workspace.machine.js'
import { explore, missing } from '../paths.js'

const TRACKED = 'workspace.tracked'
const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.${TRACKED}.${node}` })
const looked = (perSession: boolean) => ({
  type: 'xstate.done.actor.look',
  output: { unwatched: [], perSession },
  actorId: 'look',
})

const explored = explore(
  workspaceMachine,
  { directory: '/project' },
  [
    { type: 'used', session: undefined } as never,
    { type: 'used', session: { sessionId: 'ses_1', isVisit: false } } as never,
    { type: 'used', session: { sessionId: 'ses_1', isVisit: true } } as never,
    { type: 'session.ended', sessionId: 'ses_1' } as never,
    { type: 'visit.expired', sessionId: 'ses_1' } as never,
    { type: 'look.requested' },
    { type: 'files.changed' },
    { type: 'watch.lost', root: '/project/.svc/plugins' } as never,
    { type: 'stop.requested' },
    looked(false),
    { type: 'xstate.error.actor.look', error: new Error('broken'), actorId: 'look' } as never,
    after('freshness', 'files.watched'),
    after('debounce', 'files.dirty'),
    after('recheck', 'files.failing'),
    after('idleTeardown', 'sessions.none'),
  ],
  { key: ({ context }) => [context.sessions, context.visits, Math.min(context.unwatched.length, 1)] },
)

describe('the machine of a workspace', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('is due until it was looked at, once something changed, and when its watches have been silent for long', () => {
    const due = explored.snapshots.filter((snapshot) => snapshot.hasTag('due')).map(({ value }) => value.tracked.files)
    expect(new Set(due)).toEqual(new Set(['unused', 'stale', 'dirty']))
  })

  it('has sessions only where it says so, and visits only of them', () => {
    for (const { value, context, status } of explored.snapshots.filter((snapshot) => snapshot.status === 'active')) {
      expect([status, value.tracked.sessions]).toEqual(['active', context.sessions.length === 0 ? 'none' : 'some'])
      expect(context.sessions).toEqual(expect.arrayContaining(context.visits))
    }
  })

  it('is forgotten only while nobody is in it and no look is under way', () => {
    const idle = explored.paths.filter((_, index) => explored.snapshots[index]?.value === 'idle')
    expect(idle.length).toBeGreaterThan(0)
    expect(new Set(explored.snapshots.filter(({ value }) => value === 'idle').map(({ context }) => context.sessions.length))).toEqual(
      new Set([0]),
    )
    expect(idle.every((path) => path.at(-1) === `xstate.after.idleTeardown.${TRACKED}.sessions.none`)).toBe(true)
  })
})
