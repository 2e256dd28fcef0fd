import { expect, it } from 'vitest'
import { boundsOf, USUAL_BOUNDS } from '../../../src/actors/artifact/storage-bounds.js'
import { startMaintenance } from '../../../src/actors/runtime/maintenance.js'
import type { KeptText } from '../../../src/store/found.js'
import type { Retention } from '../../../src/store/store.js'
import { createFakeEffects } from '../../fakes/effects.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MIB = 1024 * 1024

async function setup(storage: object = {}) {
  const { clock, log } = createFakeEffects()
  const pruned: Retention[] = []
  const kept: KeptText[] = []
  let sweeps = 0
  const { stop } = startMaintenance({
    store: { search: { keep: (text) => kept.push(text) }, checkpoint: () => undefined, prune: (retention) => pruned.push(retention) < 0 },
    effects: { clock, log },
    sweep: async () => void sweeps++,
    bounds: async () => boundsOf({ storage }),
  })
  await clock.advanceAsync(2 * 60_000)
  const last = () => {
    const { before, maxBytes } = pruned.at(-1) ?? { before: Number.NaN, maxBytes: 0 }
    return { days: Math.round((clock.now() - before) / DAY), mebibytes: maxBytes / MIB }
  }
  return { clock, last, kept, sweeps: () => sweeps, stop }
}

it('keeps events as long, and as many, as the configuration says', async () => {
  const usual = await setup()
  expect([usual.last(), usual.sweeps()]).toEqual([{ days: 7, mebibytes: 1024 }, 1])
  const told = await setup({ eventsDays: 30, eventsMiB: 5 })
  expect(told.last()).toEqual({ days: 30, mebibytes: 5 })
  usual.stop()
  told.stop()
})

it('tells the index of the search what it may keep', async () => {
  const { clock, kept, stop } = await setup({ searchDays: 30, searchMiB: 5 })
  const { bytes, since } = kept.at(-1) ?? { bytes: 0, since: 0 }
  expect([bytes, Math.round((clock.now() - since) / DAY)]).toEqual([5 * MIB, 30])
  clock.stepWall(400 * DAY)
  await clock.advanceAsync(120_000)
  expect(kept.at(-1)).toEqual({ bytes: 5 * MIB, since: 0 })
  stop()
  const usual = await setup()
  expect(usual.kept.at(-1)).toEqual({ bytes: 1024 * MIB, since: Number.NEGATIVE_INFINITY })
  usual.stop()
})

it('removes nothing because of its age for a day after the clock was set, forth or back', async () => {
  for (const jump of [400 * DAY, -400 * DAY]) {
    const { clock, last, sweeps, stop } = await setup()
    clock.stepWall(jump)
    await clock.advanceAsync(120 * 60_000)
    expect([last().days > 1000, sweeps()]).toEqual([true, 1])
    await clock.advanceAsync(DAY)
    expect([last().days, sweeps() > 1]).toEqual([7, true])
    stop()
  }
})

it('removes by age on a machine that sleeps every night', async () => {
  const { clock, last, sweeps, stop } = await setup()
  for (let night = 0; night < 3; night++) {
    clock.suspend(9 * HOUR)
    await clock.advanceAsync(2 * HOUR)
    expect([last().days, sweeps()]).toEqual([7, 1 + 2 * (night + 1)])
  }
  clock.suspend(9 * HOUR)
  clock.stepWall(HOUR)
  await clock.advanceAsync(2 * HOUR)
  expect([last().days > 1000, sweeps()]).toEqual([true, 7])
  stop()
})

it('takes what cannot be read for absent', () => {
  expect(boundsOf({ storage: { eventsDays: '3', undoMiB: -1, artifactsMiB: Number.NaN } })).toEqual(USUAL_BOUNDS)
  expect(boundsOf({ storage: 7 })).toEqual(USUAL_BOUNDS)
  expect(boundsOf({ storage: { artifactsDays: 2, artifactsMiB: 1, undoMiB: 0 } })).toMatchObject({
    artifacts: { age: 2 * DAY, bytes: MIB },
    undo: { bytes: 0 },
  })
})
