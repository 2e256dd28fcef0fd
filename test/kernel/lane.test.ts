import { expect, it } from 'vitest'
import { createLane, createLanes } from '../../src/kernel/lane.js'

function work() {
  const order: string[] = []
  const ends = new Map<string, () => void>()
  return {
    order,
    named: (name: string) => () =>
      new Promise<string>((resolve) => {
        order.push(name)
        ends.set(name, () => resolve(name))
      }),
    end: (name: string) => ends.get(name)?.(),
  }
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

it('does work one after the other, in the order it came', async () => {
  const lane = createLane({ most: 9 })
  const { order, named, end } = work()
  const [a, b, c] = [lane.run(named('a')), lane.run(named('b')), lane.run(named('c'))]
  expect([order, lane.size]).toEqual([[], 3])
  await turn()
  expect(order).toEqual(['a'])
  end('a')
  await expect(a).resolves.toBe('a')
  await turn()
  expect([order, lane.size]).toEqual([['a', 'b'], 2])
  end('b')
  await b
  await turn()
  end('c')
  await expect(c).resolves.toBe('c')
  expect([order, lane.size]).toEqual([['a', 'b', 'c'], 0])
})

it('goes on after work that failed', async () => {
  const lane = createLane({ most: 9 })
  const failed = lane.run(() => Promise.reject(new Error('no')))
  const thrown = lane.run(() => {
    throw new Error('at once')
  })
  const next = lane.run(() => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  await expect(thrown).rejects.toThrow('at once')
  await expect(next).resolves.toBe('yes')
})

it('takes so many at once, whose turn it is included', async () => {
  const lane = createLane({ most: 2, full: () => new RangeError('full') })
  const { named, end } = work()
  const a = lane.run(named('a'))
  const b = lane.run(named('b'))
  await expect(lane.run(named('c'))).rejects.toThrow(new RangeError('full'))
  await turn()
  end('a')
  await a
  const d = lane.run(named('d'))
  await turn()
  end('b')
  await b
  await turn()
  end('d')
  await expect(d).resolves.toBe('d')
})

it('lets go of who gives up while waiting, and lets nobody pass whoever is at work', async () => {
  const lane = createLane({ most: 9 })
  const { order, named, end } = work()
  const leaving = new AbortController()
  const a = lane.run(named('a'))
  const b = lane.run(named('b'), leaving.signal)
  const c = lane.run(named('c'))
  await turn()
  leaving.abort(new Error('enough'))
  await expect(b).rejects.toThrow('enough')
  await turn()
  expect([order, lane.size]).toEqual([['a'], 2])
  end('a')
  await a
  await turn()
  expect(order).toEqual(['a', 'c'])
  end('c')
  await c
  await expect(lane.run(named('d'), AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
  expect(order).toEqual(['a', 'c'])
})

it('ends work whose signal aborts in its turn only when it ends', async () => {
  const lane = createLane({ most: 9 })
  const { named, end } = work()
  const leaving = new AbortController()
  const a = lane.run(named('a'), leaving.signal)
  await turn()
  leaving.abort()
  end('a')
  await expect(a).resolves.toBe('a')
})

it('keeps a lane for each key while there is work for it', async () => {
  const lanes = createLanes<string>({ most: 9 })
  const { order, named, end } = work()
  const works = [lanes.run('x', named('x1')), lanes.run('x', named('x2')), lanes.run('y', named('y1'))]
  await turn()
  expect([order, lanes.size, lanes.has('x'), lanes.has('z')]).toEqual([['x1', 'y1'], 2, true, false])
  end('y1')
  await works[2]
  expect([lanes.size, lanes.has('y')]).toEqual([1, false])
  end('x1')
  await works[0]
  await turn()
  expect([order, lanes.has('x')]).toEqual([['x1', 'y1', 'x2'], true])
  end('x2')
  await works[1]
  expect(lanes.size).toBe(0)
})

it('says which lane of many is full', async () => {
  const lanes = createLanes<string>({ most: 1, full: (key) => new RangeError(`${key} is full`) })
  const { named, end } = work()
  const works = [lanes.run('x', named('x')), lanes.run('y', named('y'))]
  await expect(lanes.run('x', named('more'))).rejects.toThrow(new RangeError('x is full'))
  await turn()
  end('x')
  end('y')
  await Promise.all(works)
  expect(lanes.size).toBe(0)
})
