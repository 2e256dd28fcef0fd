import { createActor, createMachine } from 'xstate'
import { expect, test } from 'vitest'
import { createActorDirectory } from '../../src/kernel/roots.js'

const machine = createMachine({
  id: 'thing',
  initial: 'open',
  states: { open: { on: { finish: 'closed', crash: { actions: 'explode' } } }, closed: { type: 'final' } },
}).provide({
  actions: {
    explode() {
      throw new Error('crash')
    },
  },
})

function begin() {
  let now = 100
  const directory = createActorDirectory({ now: () => now++, crashes: 8 })
  const told: string[] = []
  const start = (id: string) => {
    const ref = createActor(machine, { id })
    directory.add(ref, 'thing')
    return ref.start()
  }
  const listed = () => [...directory.roots()].map(({ ref, kind, startedAt, restarts }) => [ref.id, kind, startedAt, restarts])
  return { directory, told, start, listed }
}

test('lists an actor from its start to its end, however it ends', () => {
  const { directory, start, listed } = begin()
  const [a, b, c] = [start('a'), start('b'), start('c')]
  expect(listed()).toEqual([
    ['a', 'thing', 100, 0],
    ['b', 'thing', 101, 0],
    ['c', 'thing', 102, 0],
  ])
  a.send({ type: 'finish' })
  b.stop()
  c.send({ type: 'crash' })
  expect(listed()).toEqual([])
  expect(directory.size).toBe(0)
})

test('counts the crashes of an id, and only them', () => {
  const { start, listed } = begin()
  start('a').send({ type: 'crash' })
  start('a').send({ type: 'crash' })
  start('b').stop()
  start('a')
  start('b')
  expect(listed().map(([id, , , restarts]) => [id, restarts])).toEqual([
    ['a', 2],
    ['b', 0],
  ])
})

test('tells watchers of what comes and goes, until they stop', () => {
  const { directory, start } = begin()
  const told: string[] = []
  const stop = directory.watch({
    onAdded: ({ ref }) => told.push(`+${ref.id}`),
    onEnded: ({ ref }, end) => told.push(`-${ref.id} ${end}`),
  })
  start('a').send({ type: 'finish' })
  start('b').send({ type: 'crash' })
  stop()
  start('c').stop()
  expect(told).toEqual(['+a', '-a done', '+b', '-b error'])
})
