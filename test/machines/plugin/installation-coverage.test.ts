// Holds plugin-protocol §9.3.
import { describe, expect, it } from 'vitest'
import { installationMachine } from '../../../src/machines/plugin/installation.machine.js'
import { explore, missing } from '../paths.js'

const end = { actorId: 'install', output: undefined, error: new Error('broken') }
const explored = explore(installationMachine, { spec: 'left-pad' }, [
  { type: 'asked' },
  { type: 'stop.requested' },
  { type: 'xstate.done.actor.install', ...end },
  { type: 'xstate.error.actor.install', ...end },
  { type: 'xstate.after.installRetry.installation.failed' },
])

describe('the installation of a package', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('says why it failed, and is tried again once it is due', () => {
    const failed = explored.snapshots.filter((snapshot) => snapshot.hasTag('failed') || snapshot.hasTag('due'))
    expect(new Set(failed.map(({ value, context }) => `${String(value)}: ${context.reason}`))).toEqual(
      new Set(['failed: broken', 'due: broken']),
    )
  })
})
