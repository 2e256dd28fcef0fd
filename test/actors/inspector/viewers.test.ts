import { expect, test } from 'vitest'
import { createRing } from '../../../src/actors/inspector/ring.js'
import { createViewers } from '../../../src/actors/inspector/viewers.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeClock } from '../../../src/simulation/clock.js'

test('a record is sent at once after a pause, and what follows is gathered', () => {
  const clock = createFakeClock()
  const ring = createRing(LIMITS.inspector)
  const viewers = createViewers({ ring, clock })
  const sent: number[] = []
  const write = (frame: Uint8Array) => void sent.push(Number(/^id: (\d+)$/m.exec(new TextDecoder().decode(frame))?.[1]))
  viewers.add(
    { write, pending: () => 0, room: () => 0, drained: () => Promise.resolve(), end: () => undefined },
    undefined,
    () => undefined,
  )
  const happen = () => {
    ring.append((sequence) => ({ sequence, at: clock.now(), actorId: 'runtime', type: 'event', event: 'tick' }))
    viewers.wake()
  }
  const { batch } = LIMITS.inspector
  const after = (ms: number) => {
    clock.advance(ms)
    return sent.splice(0)
  }
  after(batch)
  happen()
  expect(after(0)).toEqual([1])
  happen()
  happen()
  expect(after(batch - 1)).toEqual([])
  expect(after(1)).toEqual([3])
  after(batch)
  happen()
  expect(after(0)).toEqual([4])
})
