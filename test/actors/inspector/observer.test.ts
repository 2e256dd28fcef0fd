// Holds laws §8.
import { assign, createActor, fromPromise, setup } from 'xstate'
import { describe, expect, test } from 'vitest'
import { createActorDirectory } from '../../../src/kernel/roots.js'
import { createInspector } from '../../../src/actors/inspector/inspector.js'
import type { InspectorRecord } from '../../../src/protocol/system/inspector.js'
import { createFakeClock } from '../../../src/simulation/clock.js'

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const sink = { write: () => undefined, pending: () => 0, room: () => 0, drained: () => Promise.resolve(), end: () => undefined }

const child = setup({
  actions: {
    explode() {
      throw new Error('crash')
    },
  },
}).createMachine({ id: 'child', initial: 'alive', states: { alive: { on: { crash: { actions: 'explode' } } } } })

const parent = setup({
  types: { context: {} as { failures: number } },
  actors: { child, wait: fromPromise(() => new Promise<void>(() => undefined)) },
  actions: { count: assign({ failures: ({ context }) => context.failures + 1 }) },
}).createMachine({
  id: 'parent',
  context: { failures: 0 },
  type: 'parallel',
  states: {
    work: {
      initial: 'waiting',
      states: {
        waiting: { invoke: { src: 'wait', id: 'wait' }, on: { told: 'working' } },
        working: { invoke: { src: 'child', id: 'child', onError: { target: 'broken', actions: 'count' } } },
        broken: {},
      },
    },
    light: { initial: 'off', states: { off: { on: { told: 'on' } }, on: {} } },
  },
})

function begin(payloads = false) {
  const clock = createFakeClock()
  const directory = createActorDirectory({ now: clock.now, crashes: 8 })
  const inspector = createInspector({
    effects: { clock, log: silent },
    directory,
    version: '0.1.0',
    payloads,
    plugins: () => [],
    lines: () => ({ lines: [] }),
    configuration: '/config',
  })
  const start = (id: string) => {
    const ref = createActor(parent, { id })
    directory.add(ref, 'thing')
    ref.subscribe({ error: () => undefined })
    return ref.start()
  }
  const brief = () =>
    inspector
      .trace()
      .records.map(({ type, actorId, event, before, after, end }: InspectorRecord) =>
        [type, actorId, event, before?.join(), after?.join(), end].filter((each) => each !== undefined && each !== '').join(' '),
      )
  return { inspector, start, brief }
}

describe('an actor that was there before the inspector', () => {
  test('is in the tree with its parallel states and its effects, and is followed from then on', () => {
    const { inspector, start, brief } = begin()
    const ref = start('a')
    inspector.subscribe(undefined, sink)
    expect(inspector.tree().actors.map(({ id, kind, state }) => [id, kind, state.join()])).toEqual([
      ['a', 'thing', 'work.waiting,light.off'],
      ['a/wait', 'effect', ''],
    ])
    ref.send({ type: 'told' })
    expect(brief()).toEqual([
      'event a told',
      'stop a/wait stopped',
      'start a/child alive',
      'transition a told work.waiting,light.off work.working,light.on',
    ])
  })
})

test('an actor that crashes is told as stopped with an error, and its parent goes on', () => {
  const { inspector, start, brief } = begin()
  inspector.subscribe(undefined, sink)
  const ref = start('a')
  ref.send({ type: 'told' })
  ref.getSnapshot().children['child']?.send({ type: 'crash' })
  expect(brief().slice(-4)).toEqual([
    'event a/child crash',
    'event a xstate.error.actor.child',
    'stop a/child alive error',
    'transition a xstate.error.actor.child work.working,light.on work.broken,light.on',
  ])
  expect(inspector.tree().actors.map(({ id }) => id)).toEqual(['a'])
})

describe('a tool call', () => {
  const call = setup({
    types: {
      input: {} as { runId: string; callId: string },
      context: {} as { runId: string; callId: string },
      output: {} as { end: string },
    },
  }).createMachine({
    id: 'tool-call',
    context: ({ input }) => input,
    initial: 'executing',
    output: { end: 'failed' },
    states: { executing: { on: { settle: 'settled' } }, settled: { type: 'final' } },
  })
  const named = { sessionId: 'ses_1', tool: 'greet', pluginId: 'dev.example.hello' }

  test.each([
    [false, undefined],
    [true, '{"status":"error","error":"no such file"}'],
  ])('is told with its tool, its plugin and what came of it; payloads told: %s', (payloads, payload) => {
    const clock = createFakeClock()
    const directory = createActorDirectory({ now: clock.now, crashes: 8 })
    const inspector = createInspector({
      effects: { clock, log: silent },
      directory,
      version: '0.1.0',
      payloads,
      plugins: () => [],
      lines: () => ({ lines: [] }),
      configuration: '/config',
      callOf: (runId, callId) => (runId === 'run_1' && callId === 'call_1' ? named : undefined),
      stateOf: ({ sessionId }) => (sessionId === 'ses_1' ? { status: 'error', error: 'no such file' } : undefined),
    })
    inspector.subscribe(undefined, sink)
    const ref = createActor(call, { id: 'call:call_1', input: { runId: 'run_1', callId: 'call_1' } })
    directory.add(ref, 'session')
    ref.start()
    expect(inspector.tree().actors).toMatchObject([{ title: 'greet', pluginId: 'dev.example.hello', state: ['executing'] }])
    ref.send({ type: 'settle' })
    const last = inspector.trace().records.at(-1)
    expect(last).toMatchObject({ type: 'stop', end: 'done', result: 'failed', actor: { title: 'greet' } })
    expect(last?.payload).toBe(payload)
  })
})

test('a root that is stopped takes what is below it along', () => {
  const { inspector, start, brief } = begin()
  inspector.subscribe(undefined, sink)
  start('a').stop()
  expect(
    brief()
      .filter((line) => line.startsWith('stop'))
      .toSorted(),
  ).toEqual(['stop a work.waiting,light.off stopped', 'stop a/wait stopped'])
  expect(inspector.tree().actors).toEqual([])
})

test('a transition names the record of the event that caused it, and a start its input where payloads are told', () => {
  const { inspector, start } = begin(true)
  inspector.subscribe(undefined, sink)
  const ref = start('a')
  ref.send({ type: 'ignored' })
  ref.send({ type: 'told' })
  const { records } = inspector.trace()
  const cause = records.find(({ type }) => type === 'transition')?.cause
  expect(records.find(({ sequence }) => sequence === cause)).toMatchObject({ type: 'event', actorId: 'a', event: 'told' })
  expect(records.filter(({ type }) => type === 'start').map(({ actorId, payload }) => [actorId, payload])).toEqual([
    ['a', 'undefined'],
    ['a/wait', 'undefined'],
    ['a/child', 'undefined'],
  ])
})

test('payloads are told only where the operator asked for them', () => {
  for (const payloads of [false, true]) {
    const { inspector, start } = begin(payloads)
    inspector.subscribe(undefined, sink)
    const event = { type: 'told', text: 'between us' }
    start('a').send(event)
    const told = inspector.trace().records.find(({ event }) => event === 'told')
    expect([told?.shape, told?.payload]).toEqual(['{text: string(10)}', payloads ? '{"type":"told","text":"between us"}' : undefined])
  }
})
