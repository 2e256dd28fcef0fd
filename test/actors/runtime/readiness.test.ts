import { expect, test } from 'vitest'
import { createReadiness } from '../../../src/actors/runtime/readiness.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

function setup() {
  const effects = createFakeEffects()
  const machine = { free: 2 * LIMITS.store.freeBytes, reason: undefined as string | undefined, plugins: [] as string[], writes: 0 }
  const readiness = createReadiness({
    effects: { ...effects, files: { room: async () => ({ free: machine.free, total: machine.free * 2 }) } },
    store: {
      tryWrite() {
        machine.writes++
        if (machine.reason !== undefined) throw new SvcError('store.unavailable', 'It is in /somewhere.', { reason: machine.reason })
      },
    },
    givenUp: () => machine.plugins,
  })
  return { machine, readiness, later: () => effects.clock.advance(LIMITS.store.readinessAge) }
}

test('what is not ready is named, and over when it is', async () => {
  const { machine, readiness, later } = setup()
  const well = { store: { ready: true }, disk: { ready: true, freeBytes: machine.free }, plugins: { ready: true, givenUp: [] } }
  expect(await readiness()).toEqual({ ready: true, ...well })
  machine.reason = 'SQLITE_FULL'
  later()
  expect(await readiness()).toEqual({ ready: false, ...well, store: { ready: false, reason: 'SQLITE_FULL' } })
  machine.reason = undefined
  machine.free = LIMITS.store.freeBytes - 1
  later()
  expect(await readiness()).toMatchObject({ ready: false, store: { ready: true }, disk: { ready: false, freeBytes: machine.free } })
  machine.free = LIMITS.store.freeBytes
  machine.plugins = ['dev.example.broken']
  later()
  expect(await readiness()).toMatchObject({
    ready: true,
    disk: { ready: true },
    plugins: { ready: false, givenUp: ['dev.example.broken'] },
  })
})

test('however often it is asked, it is looked at once in a while', async () => {
  const { machine, readiness, later } = setup()
  for (let asked = 0; asked < 50; asked++) await readiness()
  expect(machine.writes).toBe(1)
  later()
  await Promise.all(Array.from({ length: 50 }, readiness))
  expect(machine.writes).toBe(2)
})
