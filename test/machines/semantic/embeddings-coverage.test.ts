import { createActor, fromPromise, waitFor } from 'xstate'
import { describe, expect, it } from 'vitest'
import { embeddingsMachine, type Passed } from '../../../src/machines/semantic/embeddings.machine.js'
import { explore, missing } from '../paths.js'

const pass = { actorId: 'pass', error: new Error('broken') }
const passed = (output: Passed) => ({ type: 'xstate.done.actor.pass', ...pass, output })
const explored = explore(embeddingsMachine, undefined, [
  { type: 'asked' },
  { type: 'stop.requested' },
  passed('ready'),
  passed('behind'),
  passed('unavailable'),
  { type: 'xstate.error.actor.pass', ...pass },
  { type: 'xstate.after.hour.embeddings.spent' },
  { type: 'xstate.after.retry.embeddings.failing' },
])

describe('the vectors of what was said', () => {
  it('have every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('are what the last pass came to, also while the next one is under way', () => {
    const states = explored.snapshots.map(({ value, context }) => [typeof value === 'string' ? value : 'passing', context.state] as const)
    const of = (where: string) => new Set(states.filter(([value]) => value === where).map(([, state]) => state))
    expect(of('spent')).toEqual(new Set(['behind']))
    expect(of('failing')).toEqual(new Set(['failing']))
    expect(of('passing')).toEqual(new Set(['behind', 'ready', 'unavailable', 'failing']))
  })

  it('are looked at once more when something was said during a pass, however often', async () => {
    const ends: (() => void)[] = []
    const logic = embeddingsMachine.provide({
      actors: { pass: fromPromise<Passed, undefined>(() => new Promise((resolve) => ends.push(() => resolve('ready')))) },
    })
    const actor = createActor(logic).start()
    for (let times = 0; times < 3; times++) actor.send({ type: 'asked' })
    expect(ends).toHaveLength(1)
    ends[0]?.()
    await waitFor(actor, () => ends.length === 2)
    ends[1]?.()
    await waitFor(actor, ({ context, value }) => context.state === 'ready' && value === 'resting')
    expect(ends).toHaveLength(2)
    actor.stop()
  })
})
