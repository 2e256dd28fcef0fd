import { createActor, fromPromise, SimulatedClock } from 'xstate'
import { describe, expect, it } from 'vitest'
import { credentialLeaseMachine, type LeaseFailure, NoLease } from '../../../src/machines/worker/credential-lease.machine.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { explore, missing } from '../paths.js'

const MINUTE = 60_000
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** A lease whose host answers, one after the other, with a lifetime or a failure. */
async function lease(...answers: readonly (number | LeaseFailure)[]) {
  const clock = new SimulatedClock()
  let asked = 0
  const ask = fromPromise<number, { providerId: string }>(async () => {
    const answer = answers[asked++]
    if (answer === undefined) return new Promise<never>(() => undefined)
    if (typeof answer === 'number') return answer
    throw new NoLease(answer)
  })
  const actor = createActor(credentialLeaseMachine.provide({ actors: { ask } }), { clock, input: { providerId: 'openai' } }).start()
  await turns()
  return {
    actor,
    asked: () => asked,
    async wait(ms: number) {
      clock.increment(ms)
      await turns()
    },
    state: () => {
      const snapshot = actor.getSnapshot()
      return snapshot.status === 'done' ? 'left' : [...snapshot.tags].join()
    },
  }
}
const unanswered: LeaseFailure = { kind: 'unanswered', message: 'The host could not be asked.' }

describe('a lent credential', () => {
  it('is renewed a minute before its end where it was used, again and again', async () => {
    const { actor, asked, wait, state } = await lease(10 * MINUTE, 10 * MINUTE, 10 * MINUTE)
    expect([asked(), state()]).toEqual([1, 'good'])
    actor.send({ type: 'used' })
    await wait(9 * MINUTE - 1)
    expect(asked()).toBe(1)
    await wait(1)
    expect([asked(), state()]).toEqual([2, 'good'])
    actor.send({ type: 'used' })
    await wait(9 * MINUTE)
    expect([asked(), state()]).toEqual([3, 'good'])
  })

  it('that nobody uses is given up, and nobody is asked', async () => {
    const { asked, wait, state } = await lease(10 * MINUTE)
    await wait(9 * MINUTE)
    expect([asked(), state()]).toEqual([1, 'left'])
  })

  it('stays at hand while the host does not answer, and is given up when it must have ended', async () => {
    const { actor, asked, wait, state } = await lease(40_000, ...Array.from({ length: 20 }, () => unanswered))
    actor.send({ type: 'used' })
    await wait(30_000)
    expect([asked(), state()]).toEqual([2, 'good'])
    for (const pause of [1, 2, 4, 8, 16, 32]) await wait(pause * 1000)
    expect([asked(), state()]).toEqual([8, 'good'])
    await wait(60_000)
    expect([asked(), state()]).toEqual([8, 'left'])
  })

  it('is asked for anew when the provider does not take it', async () => {
    const { actor, asked, state } = await lease(10 * MINUTE, 10 * MINUTE)
    actor.send({ type: 'rejected' })
    expect(state()).toBe('')
    await turns()
    expect([asked(), state()]).toEqual([2, 'good'])
  })
})

describe('a host that gives none', () => {
  it('is asked again a while after a refusal', async () => {
    const { asked, wait, state } = await lease({ kind: 'refused', message: 'Not this worker (403).' })
    expect([asked(), state()]).toEqual([1, 'without'])
    await wait(LIMITS.modelBroker.refusalPause - 1)
    expect(state()).toBe('without')
    await wait(1)
    expect([asked(), state()]).toEqual([1, 'left'])
  })

  it('is never asked again once it said that the generation is over, also while a credential is good', async () => {
    const over: LeaseFailure = { kind: 'over', message: 'It is over (410).' }
    const { actor, asked, wait, state } = await lease(10 * MINUTE, over)
    actor.send({ type: 'used' })
    await wait(9 * MINUTE)
    expect([asked(), state()]).toEqual([2, 'without'])
    await wait(24 * 60 * MINUTE)
    expect([asked(), state(), actor.getSnapshot().context.failure]).toEqual([2, 'without', over])
    actor.send({ type: 'stop.requested' })
    expect(state()).toBe('left')
  })

  it('says when it wants to be asked again, within a minute', async () => {
    const patient = await lease({ ...unanswered, retryAfterMs: 20_000 })
    await patient.wait(19_999)
    expect(patient.state()).toBe('without')
    await patient.wait(1)
    expect(patient.state()).toBe('left')
    const endless = await lease({ ...unanswered, retryAfterMs: 24 * 60 * MINUTE })
    await endless.wait(MINUTE)
    expect(endless.state()).toBe('left')
  })
})

it('every way of the drawing is taken', () => {
  const done = (actorId: string) => ({ type: `xstate.done.actor.${actorId}`, output: 600_000, actorId })
  const failed = (actorId: string, kind: LeaseFailure['kind']) => ({
    type: `xstate.error.actor.${actorId}`,
    error: new NoLease({ kind, message: 'no' }),
    actorId,
  })
  const after = (delay: string, node: string) => ({ type: `xstate.after.${delay}.credential-lease.${node}` })
  const explored = explore(
    credentialLeaseMachine,
    { providerId: 'openai' },
    [
      { type: 'used' },
      { type: 'rejected' },
      { type: 'stop.requested' },
      ...['ask', 'renew'].flatMap((id) => [done(id), failed(id, 'over'), failed(id, 'refused'), failed(id, 'unanswered')]),
      after('renewal', 'held'),
      after('pause', 'pausing'),
      after('refusalPause', 'refused'),
      after('pause', 'resting'),
    ],
    { key: ({ context }) => [context.isUsed, Math.min(context.failures, 7)] },
  )
  expect(missing(explored)).toEqual([])
})
