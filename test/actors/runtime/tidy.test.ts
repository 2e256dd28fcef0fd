import { expect, it } from 'vitest'
import { createBus } from '../../../src/actors/events/bus.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { tidyWhenQuiet } from '../../../src/actors/runtime/tidy.js'
import { memoryStore } from '../../store/records.js'
import { createFakeEffects } from '../../fakes/effects.js'

it('gives memory back after the start, and again after work, when nothing has been under way for a while', () => {
  const { clock, ids } = createFakeEffects()
  const told: string[] = []
  const bus = createBus(() => undefined)
  const journal = createJournal({ store: memoryStore(), bus, effects: { clock, ids } })
  const work = { isBusy: false }
  const memory = { bound: () => told.push('bound'), collect: () => told.push('collect') }
  const end = tidyWhenQuiet({
    bus,
    effects: { clock, memory: { bound: () => void memory.bound(), collect: () => void memory.collect() } },
    ...work,
    isBusy: () => work.isBusy,
  })
  const during = (run: () => void) => {
    told.length = 0
    run()
    return [...told]
  }
  const status = () => journal.commit('process', ({ emit }) => emit('session.status', { sessionID: 'ses_1', status: { type: 'idle' } }))
  expect(during(() => clock.advance(2999))).toEqual([])
  expect(during(() => clock.advance(60_000))).toEqual(['collect', 'collect'])
  work.isBusy = true
  expect(during(status)).toEqual(['bound'])
  expect(during(() => clock.advance(60_000))).toEqual([])
  expect(clock.pendingTimers).toBe(0) // Nothing looks from time to time whether it is over.
  work.isBusy = false
  expect(during(status)).toEqual(['bound'])
  expect(during(() => clock.advance(60_000))).toEqual(['collect', 'collect'])
  status()
  const again = () => {
    clock.advance(2000)
    status()
    clock.advance(2000)
  }
  expect(during(again)).toEqual(['bound']) // Nobody pauses for it between two turns.
  expect(during(() => clock.advance(60_000))).toEqual(['collect', 'collect'])
  status()
  end()
  expect(during(() => clock.advance(60_000))).toEqual([])
})
