// Holds plugin-protocol §3.1, §3.4: what is worked out of a plugin that rests is what its actors come to.
import { createActor, fromCallback, fromPromise, waitFor } from 'xstate'
import { expect, test } from 'vitest'
import type { Assessment } from '../../../src/machines/plugin/assessment.js'
import { restorable, SERVING, unmoved, untilServing, WAITING } from '../../../src/machines/plugin/at-rest.js'
import { generationMachine } from '../../../src/machines/plugin/generation.machine.js'
import { instanceMachine } from '../../../src/machines/plugin/instance.machine.js'
import { packageMachine } from '../../../src/machines/plugin/package.machine.js'
import { packageStateOf } from '../../../src/machines/plugin/package-state.js'

const INPUT = { key: 'dev.example.one', strict: true, before: 3 }
const FOUND: Assessment = {
  verdict: 'trusted',
  revision: 'sha256:1',
  signature: 'one',
  diagnostics: [],
  approved: ['sha256:1'],
  retained: undefined,
}
const at = (place: number) => {
  const snapshot = untilServing(INPUT, FOUND)[place]
  if (snapshot === undefined) throw new Error('there is no such place')
  return snapshot
}

/** The machines with effects that succeed at once; `fail` ends the process of the generation. */
function played() {
  let fail: (reason: string) => void = () => undefined
  const nothing = <Input>() => fromPromise<void, Input>(async () => undefined)
  const instance = instanceMachine.provide({
    actors: { process: fromCallback(() => undefined), spawn: nothing(), retire: nothing(), kill: nothing() },
  })
  const generation = generationMachine.provide({
    actors: {
      instance,
      start: fromPromise(async ({ input: { generation: ref } }) => {
        ref.send({ type: 'process.prepared', instanceId: 'plugin-instance-1', isKnown: true })
      }),
      publish: nothing(),
      drain: nothing(),
      retire: nothing(),
      kill: nothing(),
      watch: fromCallback(({ sendBack }) => {
        fail = (reason) => sendBack({ type: 'instance.failed', reason })
      }),
    },
  })
  return { logic: packageMachine.provide({ actors: { generation, keepCopy: nothing() } }), fail: (reason: string) => fail(reason) }
}

test('is what the actors come to, state by state', async () => {
  const actor = createActor(played().logic, { input: INPUT })
  const states: (string | undefined)[] = []
  actor.subscribe((snapshot) => {
    const state = packageStateOf(snapshot)
    if (state !== states.at(-1)) states.push(state)
  })
  actor.start()
  actor.send({ type: 'assessed', assessment: FOUND })
  actor.send({ type: 'wanted' })
  await waitFor(actor, (snapshot) => snapshot.hasTag('serving'))
  expect(untilServing(INPUT, FOUND).map(packageStateOf)).toEqual(states)
  expect(restorable(at(SERVING), 'plugin-instance-1')).toEqual(actor.getPersistedSnapshot())
})

test('goes on as actors: what ends is told to the package, which brings it back', async () => {
  const { logic, fail } = played()
  const actor = createActor(logic, { input: INPUT, snapshot: restorable(at(SERVING), 'plugin-instance-1') }).start()
  fail('it ended')
  const { context } = await waitFor(actor, ({ context: { reason } }) => reason !== undefined)
  expect(context).toMatchObject({ reason: 'it ended', strikes: 1, serving: undefined })
})

test('goes on as actors: they end when the package is removed', async () => {
  const { logic } = played()
  const actor = createActor(logic, { input: INPUT, snapshot: restorable(at(SERVING), 'plugin-instance-1') }).start()
  actor.send({ type: 'removed' })
  await waitFor(actor, ({ status }) => status === 'done')
})

test('takes in what changes nothing, and nothing else', () => {
  const again = { ...FOUND, diagnostics: [{ code: 'x', message: 'another' }] }
  for (const place of [WAITING, SERVING]) {
    expect(unmoved(at(place), { type: 'assessed', assessment: again })?.context.assessment).toBe(again)
    expect(unmoved(at(place), { type: 'wanted' })?.value).toEqual(at(place).value)
    expect(unmoved(at(place), { type: 'assessed', assessment: { ...FOUND, signature: 'two' } })).toBeUndefined()
    for (const type of ['unwanted', 'removed', 'stop.requested'] as const) expect(unmoved(at(place), { type })).toBeUndefined()
  }
  expect(unmoved(at(SERVING), { type: 'hook.failed', number: 4, reason: 'no' })).toBeUndefined()
  expect(unmoved(at(SERVING), { type: 'hook.succeeded', number: 4 })?.value).toEqual(at(SERVING).value)
})
