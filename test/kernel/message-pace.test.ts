import { describe, expect, it } from 'vitest'
import { createMessagePace, type Earlier } from '../../src/kernel/message-pace.js'

const LIMITS = { inTurn: 3, bytesInTurn: 100, inWindow: 20, window: 1000 }
const message = (name: number, bytes = 1) => new Uint8Array(bytes).fill(name)

/** A peer, and what was delivered of it in each turn. */
function peer(limits: Partial<typeof LIMITS> = {}, onDeliver: (name: number) => void = () => undefined, earlier?: Earlier) {
  const turns: (() => void)[] = []
  const said: string[] = []
  let delivered: number[] = []
  const clock = { now: 0 }
  const pace = createMessagePace({
    limits: { ...LIMITS, ...limits },
    monotonic: () => clock.now,
    deliver(bytes) {
      delivered.push(bytes[0] ?? -1)
      onDeliver(bytes[0] ?? -1)
    },
    hold: () => void said.push('hold'),
    release: () => void said.push('release'),
    onFlood: () => void said.push('flood'),
    earlier,
    soon: (run) => turns.push(run),
  })
  const taken = () => delivered.splice(0)
  return {
    pace,
    said,
    clock,
    taken,
    next() {
      for (const run of turns.splice(0)) run()
      return taken()
    },
  }
}

describe('the pace of messages', () => {
  it('gives a turn its part, holds the peer while some wait, and keeps the order', () => {
    const { pace, said, taken, next } = peer()
    for (let name = 1; name <= 8; name++) pace.push(message(name))
    expect([taken(), said]).toEqual([[1, 2, 3], ['hold']])
    expect(next()).toEqual([4, 5, 6])
    pace.push(message(9))
    expect(taken()).toEqual([])
    expect([next(), said]).toEqual([
      [7, 8, 9],
      ['hold', 'release'],
    ])
    expect(next()).toEqual([])
    pace.push(message(10))
    expect(taken()).toEqual([10])
  })

  it('gives a turn less of what is large, and one at least', () => {
    const { pace, taken, next } = peer()
    for (let name = 1; name <= 4; name++) pace.push(message(name, 60))
    pace.push(message(5, 500))
    pace.push(message(6))
    expect([taken(), next(), next(), next()]).toEqual([[1, 2], [3, 4], [5], [6]])
  })

  it('keeps copies of what waits', () => {
    const { pace, next, taken } = peer({ inTurn: 1 })
    pace.push(message(9))
    const room = message(1)
    pace.push(room)
    room[0] = 7
    expect([taken(), next()]).toEqual([[9], [1]])
  })

  it('tells of a flood once, and delivers nothing from then on', async () => {
    const { pace, said, taken, next } = peer()
    for (let name = 0; name < 40; name++) pace.push(message(1))
    expect(taken()).toHaveLength(3)
    expect(said).toEqual(['hold', 'release', 'flood'])
    expect(next()).toEqual([])
    await pace.drained()
  })

  it('allows as many again in the next window', () => {
    const { pace, said, clock, next } = peer({ inTurn: 100 })
    for (let window = 0; window < 5; window++) {
      for (let name = 0; name < LIMITS.inWindow; name++) pace.push(message(1))
      clock.now += LIMITS.window + 1
      next()
    }
    expect(said).toEqual([])
  })

  it('tells when nothing waits any more, and gives up what waits when it is ended', async () => {
    const { pace, next, taken } = peer({ inTurn: 1 })
    for (const name of [1, 2]) pace.push(message(name))
    const drained = pace.drained()
    expect([taken(), next()]).toEqual([[1], [2]])
    await drained
    for (const name of [3, 4]) pace.push(message(name))
    const given = pace.drained()
    pace.end()
    await given
    expect([taken(), next()]).toEqual([[], []])
  })

  it('stops in the middle of a turn when it is ended by what it delivers', () => {
    let stop = (): void => undefined
    const { pace, taken, next } = peer({}, (name) => {
      if (name === 4) stop()
    })
    stop = pace.end
    for (let name = 1; name <= 6; name++) pace.push(message(name))
    expect([taken(), next(), next()]).toEqual([[1, 2, 3], [4], []])
  })

  it('delivers nothing while what it delivered earlier is unsettled, however many turns that takes', async () => {
    const open: Promise<void>[] = []
    let settle = (): void => undefined
    const { pace, said, taken, next } = peer(
      {},
      (name) => {
        if (name === 2) open.push(new Promise<void>((resolve) => (settle = resolve)).then(() => void open.pop()))
      },
      { isUnsettled: () => open.length > 0, settled: async () => open[0] },
    )
    for (let name = 1; name <= 4; name++) pace.push(message(name))
    expect([taken(), next(), next(), said]).toEqual([[1, 2], [], [], ['hold']])
    settle()
    for (let step = 0; step < 10; step++) await Promise.resolve()
    expect([next(), said]).toEqual([
      [3, 4],
      ['hold', 'release'],
    ])
  })
})
