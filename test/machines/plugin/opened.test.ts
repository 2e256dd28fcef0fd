// Holds plugin-protocol §3.6.
import { describe, expect, it } from 'vitest'
import { openedMachine } from '../../../src/machines/plugin/opened.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string) => ({ type: `xstate.done.actor.${actorId}`, output: undefined, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.${node}` })

const explored = explore(openedMachine, { what: 'program', timeoutMs: 1000 }, [
  { type: 'stop.requested' },
  after('time', 'opened.open.going'),
  after('haltLimit', 'opened.open.halting'),
  after('killLimit', 'opened.open.killing'),
  ...['work', 'halt', 'kill'].flatMap((id) => [done(id), error(id)]),
])

describe('what a plugin has opened', () => {
  it('takes every transition', () => {
    expect(missing(explored)).toEqual([])
  })

  it('fails by itself alone: who told it to end knows that', () => {
    const ended = explored.snapshots
      .filter(({ status }) => status === 'done')
      .map(({ context }) => context as { stopped?: string; failure?: object })
    expect(ended.length).toBeGreaterThan(3)
    expect(ended.filter(({ stopped, failure }) => stopped !== undefined && failure !== undefined)).toEqual([])
  })
})
