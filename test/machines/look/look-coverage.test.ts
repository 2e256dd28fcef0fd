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
    const faultsOf = (state: string) =>
      explored.snapshots.filter(({ value }) => value === state).map(({ context }) => String(context.fault))
    expect(new Set(faultsOf('resting'))).toEqual(new Set(['undefined']))
    expect(new Set(faultsOf('failing'))).toEqual(new Set(['Error: broken']))
  })
})
