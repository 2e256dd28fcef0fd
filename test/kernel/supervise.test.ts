import { createActor, setup } from 'xstate'
import { expect, test } from 'vitest'
import { supervise } from '../../src/kernel/supervise.js'
import { createFakeEffects } from '../fakes/effects.js'

const machine = setup({
  actions: {
    crash: () => {
      throw new Error('broken')
    },
  },
}).createMachine({
  id: 'thing',
  initial: 'living',
  states: {
    living: { on: { end: 'leaving', crash: { actions: 'crash' } } },
    leaving: { on: { left: 'gone' } },
    gone: { type: 'final' },
  },
})

function setUp() {
  const effects = createFakeEffects()
  const gone: string[] = []
  const states: string[] = []
  const things = supervise<typeof machine>({
    effects,
    kind: 'thing',
    onSnapshot: (key, { value }) => states.push(`${key} ${value}`),
    onEnded: (key, _ref, how) => gone.push(how === 'done' ? key : `${key}: ${how}`),
  })
  return { effects, gone, states, things, start: (key: string) => things.start(key, (options) => createActor(machine, options)) }
}

test('one actor lives for a key, and another once it has ended', () => {
  const { things, start, gone, states } = setUp()
  const first = start('a')
  expect(start('a')).toBe(first)
  first?.send({ type: 'end' })
  first?.send({ type: 'left' })
  expect([things.get('a'), things.size, gone]).toEqual([undefined, 0, ['a']])
  expect(start('a')).not.toBe(first)
  expect(states).toEqual(['a living', 'a leaving', 'a gone', 'a living'])
})

test('one that crashes is logged, and ends alone', () => {
  const { things, start, gone, effects } = setUp()
  const [a, b] = [start('a'), start('b')]
  a?.send({ type: 'crash' })
  expect([gone, things.get('b')]).toEqual([['a: error'], b])
  expect(effects.logs).toMatchObject([{ level: 'error', message: 'a thing actor crashed', fields: { thing: 'a', cause: 'Error: broken' } }])
})

test('draining waits for every actor, and starts none', async () => {
  const { things, start } = setUp()
  const refs = ['a', 'b'].map(start)
  const order: string[] = []
  const drained = things.drain((ref) => ref.send({ type: 'end' })).then(() => order.push('drained'))
  expect([start('c'), start('a')]).toEqual([undefined, undefined])
  refs[0]?.send({ type: 'left' })
  await Promise.resolve()
  order.push('a left')
  refs[1]?.send({ type: 'left' })
  await drained
  expect(order).toEqual(['a left', 'drained'])
  await things.drain(() => undefined)
})

test('a stop ends all at once', () => {
  const { things, start, gone } = setUp()
  const ref = start('a')
  things.stop()
  expect([ref?.getSnapshot().status, things.size, gone, start('a')]).toEqual(['stopped', 0, ['a'], undefined])
})

test('an event is for an actor that lives', () => {
  const { things, start } = setUp()
  start('a')
  start('b')
  expect([...things.keys()]).toEqual(['a', 'b'])
  expect([things.send('a', { type: 'end' }), things.send('c', { type: 'end' })]).toEqual([true, false])
  expect(things.send('a', { type: 'left' })).toBe(true)
  expect([things.send('a', { type: 'end' }), [...things.keys()]]).toEqual([false, ['b']])
})

test('who waits for a state goes on when there is none to wait for, when it is so, and when the actor has ended', async () => {
  const { things, start } = setUp()
  const order: string[] = []
  const isLeaving = ({ value }: { value: string }) => value === 'leaving'
  await things.until('a', isLeaving)
  start('a')
  await things.until('a', ({ value }) => value === 'living')
  const waits = [
    things.until('a', isLeaving).then(() => order.push('leaving')),
    things.until('a').then(() => order.push('ended')),
    things.until('a', () => false).then(() => order.push('ended as well')),
  ]
  await Promise.resolve()
  expect(order).toEqual([])
  things.send('a', { type: 'end' })
  await waits[0]
  expect(order).toEqual(['leaving'])
  things.send('a', { type: 'crash' })
  things.send('a', { type: 'left' })
  await Promise.all(waits)
  expect(order).toEqual(['leaving', 'ended', 'ended as well'])
})

test('a crash ends the waiting for a state', async () => {
  const { things, start } = setUp()
  start('a')
  const ended = things.until('a')
  things.send('a', { type: 'crash' })
  await ended
  expect(things.size).toBe(0)
})

test('the oldest gives way where there are as many as there may be', () => {
  const told: string[] = []
  const things = supervise<typeof machine>({
    effects: createFakeEffects(),
    kind: 'thing',
    most: {
      count: 2,
      giveWay(oldest) {
        told.push(oldest.id)
        oldest.send({ type: 'end' })
        oldest.send({ type: 'left' })
      },
    },
  })
  for (const key of ['a', 'b', 'b', 'c', 'd']) things.start(key, (options) => createActor(machine, { id: key, ...options }))
  expect([told, [...things.keys()]]).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})
