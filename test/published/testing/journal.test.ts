import { expect, test } from 'vitest'
import { createTestJournal } from '../../../src/published/testing/journal.js'
import type { SeenEvent } from '../../../src/published/testing/heard.js'
import { createWaits } from '../../../src/published/testing/waits.js'

/** A journal of events that the test publishes. */
function setup() {
  const events: SeenEvent[] = []
  const listeners = new Set<(event: SeenEvent) => void>()
  const waits = createWaits(5000, () => 'The clock stands still.')
  const heard = {
    events,
    subscription: { close: () => undefined },
    listen(listener: (event: SeenEvent) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const publish = (type: string, data = {}) => {
    const event = { id: `evt_${events.length}`, sequence: events.length + 1, type, timestamp: 1, data }
    events.push(event)
    for (const listener of listeners) listener(event)
  }
  return { journal: createTestJournal(heard, waits), waits, publish, listeners }
}

test('an order may have other events between, and answers its own', () => {
  const { journal, publish } = setup()
  for (const type of ['a', 'b', 'a', 'c']) publish(type)
  expect(journal.expectOrder(['a', 'a', 'c']).map(({ sequence }) => sequence)).toEqual([1, 3, 4])
})

test('an order that was not kept says which event is missing, after which, and what there was', () => {
  const { journal, publish } = setup()
  for (const type of ['a', 'b', 'd', 'd']) publish(type)
  expect(() => journal.expectOrder(['b', 'a'])).toThrow(
    'event 2 of 2, "a", was not published after b (sequence 2). It came before that, with sequence 1. Published were d × 2.',
  )
  expect(() => journal.expectOrder(['x'])).toThrow('event 1 of 1, "x", was not published. Published were a, b, d × 2.')
})

test('an event is told by part of its data, whole lists included', () => {
  const { journal, publish } = setup()
  publish('a', { part: { state: 'x', list: [1, { b: 2 }] }, more: 1 })
  const fits = (data: object) => journal.filter({ type: 'a', data: { part: data } }).length
  expect([fits({ state: 'x' }), fits({ list: [1, { b: 2 }] }), fits({ list: [1] }), fits({ list: {} }), fits({ state: 'y' })]).toEqual([
    1, 1, 0, 0, 0,
  ])
})

test('what is told only while it happens is not committed', () => {
  const { journal, publish } = setup()
  publish('session.created')
  publish('message.part.delta')
  expect(journal.committed.map(({ type }) => type)).toEqual(['session.created'])
})

test('waiting finds what was, what comes, and only what comes after', async () => {
  const { journal, publish, listeners } = setup()
  publish('a')
  const [first] = journal.events
  await expect(journal.until('a')).resolves.toMatchObject({ sequence: 1 })
  const later = journal.until('a', { after: first ?? 0 })
  publish('b')
  publish('a')
  await expect(later).resolves.toMatchObject({ sequence: 3 })
  expect(listeners.size).toBe(0)
})

test('waiting in vain says what there was instead, and where the test waited', async () => {
  const { journal, publish } = setup()
  publish('a')
  const failure = await journal.until({ type: 'b', data: { x: 1 } }, { withinMs: 1 }).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    message: 'an event "b" with {"x":1}: not within 1 ms. Published were a. The clock stands still.',
    stack: expect.stringMatching(/^Error: an event [^\n]*\n[^\n]*journal\.test\.ts/) as string,
  })
})

test('waiting ends with the runtime, and a refusal nobody hears is none', async () => {
  const { journal, waits } = setup()
  const waited = journal.until('a')
  void journal.until('b')
  waits.endAll()
  await expect(waited).rejects.toThrow('an event "a": the runtime was stopped')
})

test('an event that must not be is shown when it is', () => {
  const { journal, publish } = setup()
  publish('a', { x: 1 })
  journal.expectNone('b')
  journal.expectNone('a', { after: 1 })
  expect(() => journal.expectNone('a')).toThrow('an event "a" was published: a with sequence 1, {"x":1}')
})
