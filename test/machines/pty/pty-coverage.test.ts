import { describe, expect, it } from 'vitest'
import { ptyMachine } from '../../../src/machines/pty/pty.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string) => ({ type: `xstate.done.actor.${actorId}`, output: undefined, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })

const explored = explore(
  ptyMachine,
  { id: 'pty_1' },
  [
    { type: 'connect.requested' },
    { type: 'process.exited' },
    { type: 'remove.requested' },
    ...['spawn', 'process', 'end'].flatMap((id) => [done(id), error(id)]),
    { type: 'xstate.after.endLimit.pty.removing' },
  ],
  { key: ({ context }) => [Math.min(context.incarnation, 2), context.failure !== undefined] },
)

describe('the machine of a terminal', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('ends only where nothing runs, and is live only where a program is or will be', () => {
    for (const snapshot of explored.snapshots) {
      expect(snapshot.hasTag('live')).toBe(snapshot.value === 'spawning' || snapshot.value === 'running')
      expect(snapshot.status === 'done').toBe(snapshot.value === 'gone')
    }
    const idle = explored.snapshots.filter(({ value }) => value === 'idle')
    expect(new Set(idle.map(({ context }) => context.incarnation))).toEqual(new Set([0]))
    const live = explored.snapshots.filter((snapshot) => snapshot.hasTag('live'))
    expect(new Set(live.map(({ context }) => context.failure))).toEqual(new Set([undefined]))
  })
})
