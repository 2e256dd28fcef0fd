/** Many who search at once: others go on between any two parts, and not everybody may wait. */
import { expect, it } from 'vitest'
import { createPause } from '../../../src/kernel/pause.js'
import { createLooking } from '../../../src/plugins/semantic/looking.js'

/** Turns of an event loop that go on when they are told to, and what was done in each. */
function turns(most?: number, each?: number) {
  const soon: (() => void)[] = []
  const done: string[] = []
  const looking = createLooking(
    createPause((work) => soon.push(work)),
    most,
    each,
  )
  function* parts(name: string, count: number): Generator<void, string> {
    for (let part = 1; part < count; part++) {
      done.push(`${name}${part}`)
      yield
    }
    done.push(`${name}${count}`)
    return name
  }
  return {
    search: (name: string, count: number, signal = new AbortController().signal, who = '') =>
      looking.run({ who, prepared: async () => () => parts(name, count), signal }),
    /** What is done in each turn, until nobody waits for one. */
    async all(): Promise<string[]> {
      const each: string[] = []
      for (;;) {
        await new Promise(setImmediate) // whoever goes on has said so
        each.push(done.splice(0).join(' '))
        const now = soon.splice(0)
        if (now.length === 0) return each
        for (const work of now) work()
      }
    },
  }
}

it('does one part of one search in a turn, in the order they came', async () => {
  const { search, all } = turns()
  const found = Promise.all([search('a', 3), search('b', 1), search('c', 2)])
  expect(await all()).toEqual(['', 'a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
  expect(await found).toEqual(['a', 'b', 'c'])
})

it('refuses one more than may wait, and takes others once there is room', async () => {
  const { search, all } = turns(2)
  const both = Promise.all([search('a', 1), search('b', 1)])
  await expect(search('c', 1)).rejects.toMatchObject({ code: 'quota.exceeded' })
  await all()
  expect(await both).toEqual(['a', 'b'])
  const later = search('d', 1)
  await all()
  expect(await later).toBe('d')
})

it('of each who search does one search in a round, however many one has', async () => {
  const { search, all } = turns()
  const none = new AbortController().signal
  const many = ['a', 'b', 'c', 'd'].map((name) => search(name, 1, none, 'one'))
  const few = [search('x', 2, none, 'other'), search('y', 1, none, 'other')]
  expect(await all()).toEqual(['', 'a1', 'x1', 'x2', 'b1', 'y1', 'c1', 'd1'])
  await Promise.all([...many, ...few])
})

it('refuses one more of one caller than he may have, and takes those of others', async () => {
  const { search, all } = turns(3, 2)
  const none = new AbortController().signal
  const two = [search('a', 1, none, 'one'), search('b', 1, none, 'one')]
  await expect(search('c', 1, none, 'one')).rejects.toMatchObject({ code: 'quota.exceeded' })
  const other = search('x', 1, none, 'other')
  await expect(search('y', 1, none, 'third')).rejects.toMatchObject({ code: 'quota.exceeded' })
  await all()
  await Promise.all([...two, other])
  const again = search('d', 1, none, 'one')
  await all()
  expect(await again).toBe('d')
})

it('refuses before anything is made ready, and counts who does', async () => {
  const { signal } = new AbortController()
  const looking = createLooking(createPause(), 1)
  let [asked, end] = [0, (): void => undefined]
  const prepared = async () => {
    asked += 1
    await new Promise<void>((resolve) => (end = resolve))
    return () => [][Symbol.iterator]()
  }
  const first = looking.run({ who: '', prepared, signal })
  await expect(looking.run({ who: '', prepared, signal })).rejects.toMatchObject({ code: 'quota.exceeded' })
  expect(asked).toBe(1)
  end()
  await expect(first).resolves.toBeUndefined()
})

it('does nothing more for who is gone, before and after his first part', async () => {
  const { search, all } = turns()
  const gone = new AbortController()
  const ends = Promise.allSettled([search('a', 2), search('b', 2, gone.signal), search('c', 1)])
  gone.abort(new Error('gone'))
  expect((await all()).filter((each) => each !== '')).toEqual(['a1', 'a2', 'c1'])
  expect((await ends).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])

  const leaving = new AbortController()
  function* parts(): Generator<void, string> {
    leaving.abort(new Error('left'))
    yield
    throw new Error('not for him')
  }
  await expect(createLooking(createPause()).run({ who: '', prepared: async () => parts, signal: leaving.signal })).rejects.toThrow('left')
})

it('goes on with the next when a part fails', async () => {
  const looking = createLooking(createPause())
  const { signal } = new AbortController()
  const fails = async () => () => {
    throw new Error('it failed')
  }
  const failing = looking.run({ who: '', prepared: fails, signal })
  const next = looking.run({ who: '', prepared: async () => () => [][Symbol.iterator](), signal })
  await expect(failing).rejects.toThrow('it failed')
  await expect(next).resolves.toBeUndefined()
})
