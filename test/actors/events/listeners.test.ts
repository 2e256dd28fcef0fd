// Holds sessions-events §11.3, §11.8.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Audience } from '../../../src/actors/events/audiences.js'
import { type BusRecord, createBus } from '../../../src/actors/events/bus.js'
import { createListeners } from '../../../src/actors/events/listeners.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const MANY = 20

const record = (text: string, durable = true, type = 'test'): BusRecord =>
  ({ type, durable, frame: () => new TextEncoder().encode(text) }) as Partial<BusRecord> as BusRecord

function hall(hears: Audience['hears'] = () => true) {
  const faults: unknown[] = []
  const bus = createBus((error) => faults.push(error))
  const audience: Audience = { sessionId: undefined, matches: () => true, hears }
  return { bus, faults, audience, listeners: createListeners(bus) }
}

/** A reader with what it was written, a text for each write. */
function reader({ listeners, audience }: Pick<ReturnType<typeof hall>, 'listeners' | 'audience'>) {
  const state = { writes: [] as string[], awaited: [] as (string | undefined)[], pending: 0, isBroken: false, told: [] as string[] }
  const leave = listeners.listen(
    audience,
    {
      write(frame, urgency) {
        if (state.isBroken) throw new Error('broken')
        state.writes.push(new TextDecoder().decode(frame))
        state.awaited.push(urgency)
      },
      pending: () => state.pending,
    },
    { lagged: () => state.told.push('lagged'), failed: () => state.told.push('failed') },
  )
  return { ...state, state, leave }
}

const readersOf = (of: ReturnType<typeof hall>, count = MANY) => Array.from({ length: count }, () => reader(of))

describe('listeners of one audience', () => {
  it('get each record in its tick while they are few', () => {
    const of = hall()
    const [first, second] = [reader(of), reader(of)]
    of.bus.publish(record('a'))
    of.bus.publish(record('b', false, 'message.part.updated'))
    of.bus.publish(record('c', false, 'message.part.delta'))
    of.bus.publish(record('d'), true)
    expect([first.writes, second.writes]).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'c', 'd'],
    ])
    expect(first.awaited).toEqual([undefined, undefined, 'growing', 'whole'])
  })

  it('get what comes in one turn as one write when they are many', async () => {
    const of = hall((each) => each.durable)
    const all = readersOf(of)
    for (const each of [record('a'), record('unheard', false), record('b')]) of.bus.publish(each)
    expect(all.flatMap(({ writes }) => writes)).toEqual([])
    await turn()
    of.bus.publish(record('c'))
    await turn()
    expect(all.map(({ writes }) => writes)).toEqual(all.map(() => ['ab', 'c']))
  })

  it('wait for nothing once there is much', () => {
    const of = hall()
    const [first] = readersOf(of)
    const text = 'x'.repeat(40_000)
    of.bus.publish(record(text))
    of.bus.publish(record(text))
    expect(first?.writes).toEqual([text + text])
  })

  it('get nothing of what lies before they join, and all of what does when they leave', async () => {
    const of = hall()
    const all = readersOf(of)
    of.bus.publish(record('before'))
    const late = reader(of)
    expect(all.map(({ writes }) => writes)).toEqual(all.map(() => ['before']))
    of.bus.publish(record('both'))
    late.leave()
    of.bus.publish(record('after'))
    await turn()
    expect(late.writes).toEqual(['both'])
    expect(all.map(({ writes }) => writes)).toEqual(all.map(() => ['before', 'both', 'after']))
  })

  it('keep the order while they become few', async () => {
    const of = hall()
    const [first, ...others] = readersOf(of, 17)
    of.bus.publish(record('a'))
    others[0]?.leave()
    of.bus.publish(record('b'))
    await turn()
    expect(first?.writes).toEqual(['a', 'b'])
  })

  it('are counted one by one, and forgotten with the last', () => {
    const of = hall()
    const all = readersOf(of)
    expect(of.bus.subscribers).toBe(MANY)
    for (const { leave } of all) leave()
    expect(of.bus.subscribers).toBe(0)
  })

  it.each([2, MANY])('end with a sink that throws, and alone (%i)', async (count) => {
    const of = hall()
    const [broken, ...others] = readersOf(of, count)
    if (broken !== undefined) broken.state.isBroken = true
    of.bus.publish(record('a'))
    await turn()
    of.bus.publish(record('b'))
    await turn()
    expect(broken?.told).toEqual(['failed'])
    expect(of.faults).toHaveLength(1)
    expect(others.map(({ writes }) => writes.join(''))).toEqual(others.map(() => 'ab'))
  })

  it('end together where it cannot be told who hears', () => {
    const of = hall(() => {
      throw new Error('unknown')
    })
    const all = readersOf(of, 3)
    of.bus.publish(record('a'))
    expect(all.map(({ told }) => told)).toEqual(all.map(() => ['failed']))
    expect(of.bus.subscribers).toBe(0)
  })

  it.each([2, MANY])('are told who lags behind (%i)', async (count) => {
    const of = hall()
    const [slow, ...others] = readersOf(of, count)
    if (slow !== undefined) slow.state.pending = LIMITS.events.backlogBytes + 1
    for (let at = 0; at < 64; at++) of.bus.publish(record('a'))
    await turn()
    expect(slow?.told).toEqual(['lagged'])
    expect(others.flatMap(({ told }) => told)).toEqual([])
  })
})
