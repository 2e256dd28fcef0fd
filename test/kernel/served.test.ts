import { describe, expect, it } from 'vitest'
import { createPool } from '../../src/kernel/served.js'

interface Served {
  readonly place: string
  readonly isEnding: boolean
  retire(): Promise<void>
  end(): void
}

function opened(most?: number) {
  const made: Served[] = []
  const pool = createPool((place: string) => {
    let end = (): void => undefined
    let isEnding = false
    const gone = new Promise<void>((resolve) => (end = resolve))
    const one: Served = {
      place,
      get isEnding() {
        return isEnding
      },
      retire() {
        isEnding = true
        return gone
      },
      end,
    }
    made.push(one)
    return one
  }, most)
  return { pool, made, places: () => pool.all().map(({ place }) => place) }
}

/** Whether it has settled by now. */
async function isSettled(work: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))])
}

describe('a pool', () => {
  it('has one for each key as long as its text is the same, and retires it before another is made', () => {
    const { pool, made } = opened()
    const first = pool.of('a', 'text', 'first')
    expect(pool.of('a', 'text', 'second')).toBe(first)
    expect([pool.known('a', 'text'), pool.known('a', 'other'), pool.known('b')]).toEqual([first, undefined, undefined])
    const next = pool.of('a', 'other', 'third')
    expect([pool.known('a'), first?.isEnding, next?.isEnding]).toEqual([next, true, false])
    expect(made.map(({ place }) => place)).toEqual(['first', 'third'])
  })

  it('retires the one used longest ago when there are too many', () => {
    const { pool, made, places } = opened(2)
    for (const key of ['a', 'b', 'a', 'c']) pool.of(key, '', key)
    expect(places()).toEqual(['a', 'c'])
    expect(made.filter(({ isEnding }) => isEnding).map(({ place }) => place)).toEqual(['b'])
  })

  it('knows those that are retired no more, and waits for all that end', async () => {
    const { pool, made, places } = opened()
    for (const key of ['a', 'b', 'c']) pool.of(key, `text of ${key}`, key)
    void pool.retire(({ place }) => place === 'a')
    const retired = pool.retire((_, text) => text === 'text of b')
    expect(places()).toEqual(['c'])
    made[1]?.end()
    expect(await isSettled(retired)).toBe(false)
    made[0]?.end()
    await retired
    await pool.ended()
    expect(made[2]?.isEnding).toBe(false)
  })

  it('makes nothing once it is stopped', async () => {
    const { pool, made, places } = opened()
    pool.of('a', '', 'a')
    const stopped = pool.stop()
    expect([pool.over.aborted, places(), pool.of('a', '', 'a')]).toEqual([true, [], undefined])
    expect(await isSettled(stopped)).toBe(false)
    made[0]?.end()
    await stopped
  })
})
