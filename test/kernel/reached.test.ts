import { createActor, createMachine } from 'xstate'
import { describe, expect, it } from 'vitest'
import { reached } from '../../src/kernel/reached.js'

function started() {
  const machine = createMachine({
    initial: 'cold',
    states: {
      cold: { on: { go: 'warm' } },
      warm: { tags: ['warm'], on: { go: 'gone' } },
      gone: { type: 'final' },
    },
  })
  return createActor(machine).start()
}

/** Whether it has settled by now. */
async function isSettled(work: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))])
}

describe('an actor is waited for', () => {
  it('until it is as is meant', async () => {
    const actor = started()
    const warm = reached(actor, (snapshot) => snapshot.hasTag('warm'))
    expect(await isSettled(warm)).toBe(false)
    actor.send({ type: 'go' })
    await warm
    await reached(actor, (snapshot) => snapshot.hasTag('warm'))
  })

  it('until it has ended, whatever was meant', async () => {
    const actor = started()
    const [ended, never] = [reached(actor), reached(actor, () => false)]
    actor.send({ type: 'go' })
    expect(await isSettled(ended)).toBe(false)
    actor.send({ type: 'go' })
    await Promise.all([ended, never, reached(actor)])
  })

  it('until whoever waits gives up', async () => {
    const leaving = new AbortController()
    const waiting = reached(started(), undefined, leaving.signal)
    expect(await isSettled(waiting)).toBe(false)
    leaving.abort()
    await waiting
    await reached(started(), undefined, leaving.signal)
  })
})
