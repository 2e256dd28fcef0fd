// Holds architecture law 2 for changes that share a commit.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBus } from '../../../src/actors/events/bus.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { memoryStore } from '../../store/records.js'

function start() {
  const bus = createBus(() => undefined)
  const heard: unknown[] = []
  bus.subscribe(
    (record) => void heard.push(record.data),
    () => undefined,
  )
  const store = memoryStore()
  const journal = createJournal({ store, bus, effects: createFakeEffects() })
  const tell = (directory: string) => journal.together((tx) => (tx.emit('config.updated', { directory }), directory))
  return { journal, heard, tell, kept: () => store.events.after(0, 100).length }
}

describe('changes that are committed together', () => {
  it('are one commit for all that come in a turn of the event loop, each with what it answered', async () => {
    const { journal, heard, tell, kept } = start()
    const answers = ['/a', '/b', '/c'].map(tell)
    expect([heard.length, kept()]).toEqual([0, 0])
    expect(await Promise.all(answers)).toEqual(['/a', '/b', '/c'])
    expect({ commits: journal.commits, heard: heard.length, kept: kept() }).toEqual({ commits: 1, heard: 3, kept: 3 })
    await tell('/d')
    expect(journal.commits).toBe(2)
  })

  it('are not taken back by one among them that throws', async () => {
    const { heard, tell, journal, kept } = start()
    const failing = journal.together((tx) => {
      tx.emit('config.updated', { directory: '/no' })
      throw new Error('no')
    })
    const others = ['/a', '/b'].map(tell)
    await expect(failing).rejects.toThrow('no')
    expect(await Promise.all(others)).toEqual(['/a', '/b'])
    expect({ heard, kept: kept() }).toEqual({ heard: [{ directory: '/a' }, { directory: '/b' }], kept: 2 })
  })

  it('are not made again where what comes after their commit throws', async () => {
    const { kept, tell, journal } = start()
    const failing = journal.together((tx) => tx.after(() => expect.unreachable('afterwards')))
    const other = tell('/a')
    await expect(failing).rejects.toThrow('afterwards')
    await expect(other).rejects.toThrow('afterwards')
    await turn()
    expect([journal.commits, kept()]).toEqual([1, 1])
  })
})
