import { createActor, SimulatedClock } from 'xstate'
import { expect, it } from 'vitest'
import type { Assessment } from '../../../src/machines/plugin/assessment.js'
import { packageMachine } from '../../../src/machines/plugin/package.machine.js'
import { packageStateOf } from '../../../src/machines/plugin/package-state.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { inert } from '../paths.js'

const found = (revision: string): Assessment => ({
  verdict: 'trusted',
  revision,
  signature: revision,
  diagnostics: [],
  approved: ['a', 'b'],
  retained: undefined,
})
const copied = { type: 'xstate.done.actor.keepCopy', actorId: 'keepCopy', output: undefined }
const refused = (number: number) => {
  const actorId = `generation:${number}`
  return { type: `xstate.done.actor.${actorId}`, actorId, output: { number, end: 'refused', reason: 'no answer' } }
}

/** A package whose first content serves and whose second was found. */
function updating() {
  const clock = new SimulatedClock()
  const input = { key: 'dev.example.one', strict: true, before: 0 }
  const actor = createActor(inert(packageMachine), { input, clock }).start()
  const send = (...events: readonly object[]) => {
    for (const event of events) actor.send(event)
    const snapshot = actor.getSnapshot() as ReturnType<ReturnType<typeof createActor<typeof packageMachine>>['getSnapshot']>
    const { context } = snapshot
    return { state: packageStateOf(snapshot), serving: context.serving?.revision, candidate: context.candidate?.revision }
  }
  send({ type: 'wanted' }, { type: 'assessed', assessment: found('a') }, copied)
  send({ type: 'generation.published', number: 1, revision: 'a' })
  expect(send({ type: 'assessed', assessment: found('b') })).toEqual({ state: 'enabled', serving: 'a', candidate: undefined })
  return { send, clock }
}

const lost = { type: 'generation.unavailable', number: 1, reason: 'it exited' }

it('an instance that ends while the copy of new content is made does not count as serving', () => {
  const { send } = updating()
  expect(send(lost)).toEqual({ state: 'enabled', serving: undefined, candidate: undefined })
  expect(send(copied)).toEqual({ state: 'loading', serving: undefined, candidate: 'b' })
})

it.each([
  ['while the copy of new content is made', [lost, copied]],
  ['while new content starts', [copied, lost]],
])('an instance that ends %s, which is then refused, is brought back', (_when, events) => {
  const { send, clock } = updating()
  send(...events)
  expect(send(refused(2))).toEqual({ state: 'degraded', serving: undefined, candidate: undefined })
  clock.increment(1000)
  expect(send()).toEqual({ state: 'restoring', serving: undefined, candidate: 'a' })
})

it('content that was approved in the place of what serves, and did not start, keeps nothing from serving that comes after it', () => {
  const { send } = updating()
  const approvedAlone = { ...found('b'), approved: ['b'] }
  send({ type: 'assessed', assessment: approvedAlone }, copied)
  expect(send(refused(2))).toMatchObject({ state: 'update-available', serving: 'a' })
  const changed: Assessment = { ...found('c'), verdict: 'untrusted', approved: ['b'] }
  expect(send({ type: 'assessed', assessment: changed })).toMatchObject({ state: 'update-available', serving: 'a' })
  expect(send({ type: 'assessed', assessment: { ...found('c'), approved: ['c'] } }, copied)).toMatchObject({ serving: 'a', candidate: 'c' })
  expect(send(refused(3))).toMatchObject({ state: 'update-available', serving: 'a' })
  const withdrawn: Assessment = { ...found('d'), verdict: 'untrusted', approved: [] }
  expect(send({ type: 'assessed', assessment: withdrawn })).toMatchObject({ state: 'permission-required', serving: undefined })
})

it('new content that is refused while nothing approved ever served fails', () => {
  const { send } = updating()
  send({ type: 'assessed', assessment: { ...found('b'), signature: 'b only', approved: ['b'] } }, lost, copied)
  expect(send(refused(2)).state).toBe('failed')
})

it.each([
  ['other content', [{ type: 'assessed', assessment: found('b') }]],
  [
    'the switch',
    [
      { type: 'assessed', assessment: { ...found('a'), verdict: 'disabled' } },
      { type: 'assessed', assessment: found('a') },
    ],
  ],
])('what was given up has all its tries again after %s', (_what, events) => {
  const clock = new SimulatedClock()
  const actor = createActor(inert(packageMachine), { input: { key: 'dev.example.one', strict: true, before: 0 }, clock }).start()
  const send = (...all: readonly object[]) => {
    for (const event of all) actor.send(event)
    return actor.getSnapshot()
  }
  let number = 0
  const start = () => {
    number += 1
    send(copied, { type: 'generation.published', number, revision: 'x' })
  }
  const end = () => send({ type: 'generation.unavailable', number, reason: 'it exited' })
  send({ type: 'wanted' }, { type: 'assessed', assessment: found('a') })
  start()
  for (let tries = 0; tries < LIMITS.plugins.restart.tries; tries++) {
    end()
    clock.increment(10_000)
    start()
  }
  expect(packageStateOf(end())).toBe('failed')
  send(...events)
  start()
  expect(packageStateOf(end())).toBe('degraded')
})
