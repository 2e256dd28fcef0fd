import { describe, expect, it } from 'vitest'
import { lookMachine } from '../../../src/machines/look/look.machine.js'
import { explore, missing } from '../paths.js'

const end = { actorId: 'look', output: undefined, error: new Error('broken') }
const explored = explore(
  lookMachine,
  { what: '/srv' },
  [{ type: 'asked' }, { type: 'stop.requested' }, { type: 'xstate.done.actor.look', ...end }, { type: 'xstate.error.actor.look', ...end }],
  { key: ({ context: { begun, ended, fault } }) => [Math.min(begun, 2), begun - ended, fault !== undefined] },
)

describe('a look', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('is under way exactly while more have begun than have ended, and never is another', () => {
    for (const snapshot of explored.snapshots) {
      const { begun, ended } = snapshot.context
      expect(begun - ended).toBe(snapshot.hasTag('looking') ? 1 : 0)
      expect(snapshot.status === 'done').toBe(snapshot.value === 'stopped')
    }
  })

  it('knows why it failed until another one has not', () => {
    for (const snapshot of explored.snapshots) if (snapshot.value === 'resting') expect(snapshot.context.fault).toBeUndefined()
    const failing = explored.snapshots.filter(({ value }) => value === 'failing')
    expect(failing.length).toBeGreaterThan(0)
    for (const { context } of failing) expect(context.fault).toEqual(new Error('broken'))
  })
})
