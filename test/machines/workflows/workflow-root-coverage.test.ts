import { describe, expect, it } from 'vitest'
import { type Found, workflowRootMachine } from '../../../src/machines/workflows/workflow-root.machine.js'
import { explore, missing } from '../paths.js'

const FOUND: readonly Found[] = ['watched', 'deaf', 'awaited', 'absent']
const directory = 'workflow-root.open.directory'
const explored = explore(workflowRootMachine, { key: '/srv/.svc' }, [
  { type: 'touched' },
  { type: 'lost' },
  { type: 'stirred' },
  { type: 'stop.requested' },
  ...[true, false].map((isWatched) => ({ type: 'covered', isWatched })),
  ...['find', 'findAgain'].flatMap((actorId) => [
    ...FOUND.map((output) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })),
    { type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId },
  ]),
  ...['absent', 'deaf'].map((state) => ({ type: `xstate.after.appearance.${directory}.${state}.waiting` })),
  { type: 'xstate.after.debounceMost.workflow-root.open.changes.touched' },
  { type: 'xstate.after.debounce.workflow-root.open.changes.touched.settling' },
])

describe('a directory of workflow files under watch', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('ends when it is told to, from wherever it is', () => {
    expect(explored.paths.filter((path) => path.includes('stop.requested')).every((path) => path.at(-1) === 'stop.requested')).toBe(true)
    expect(explored.snapshots.filter(({ status }) => status === 'done').map(({ value }) => value)).toEqual(['stopped'])
  })
})
