// Holds http-contract §4.1; choice 2.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBus } from '../../../src/actors/events/bus.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { memoryStore } from '../../store/records.js'

function journalWithDisk() {
  const syncs: { done(): void; fail(error: Error): void }[] = []
  const sync = () => new Promise<void>((done, fail) => syncs.push({ done, fail }))
  const store = { ...memoryStore(), sync }
  const journal = createJournal({ store, bus: createBus(() => undefined), effects: createFakeEffects() })
  const write = () => journal.commit('process', (tx) => tx.emit('config.updated', { directory: '/srv' }))
  return { journal, syncs, write }
}

describe('waiting for the disk', () => {
  it('is one sync for all who come while none is under way, and one more for all who come meanwhile', async () => {
    const { journal, syncs, write } = journalWithDisk()
    const acknowledged: string[] = []
    const admit = (name: string) => {
      write()
      return journal.synced().then(() => acknowledged.push(name))
    }
    const first = ['a', 'b', 'c'].map(admit)
    await turn()
    expect(syncs).toHaveLength(1)
    const second = ['d', 'e'].map(admit)
    await turn()
    expect(syncs).toHaveLength(1)
    syncs[0]?.done()
    await Promise.all(first)
    expect(acknowledged).toEqual(['a', 'b', 'c'])
    expect(syncs).toHaveLength(2)
    syncs[1]?.done()
    await Promise.all(second)
    expect(acknowledged).toEqual(['a', 'b', 'c', 'd', 'e'])
    await journal.synced()
    expect(syncs).toHaveLength(2)
  })

  it('fails those who waited for the sync that failed; who asks again gets a sync of their own', async () => {
    const { journal, syncs, write } = journalWithDisk()
    write()
    const waiting = journal.synced()
    await turn()
    syncs[0]?.fail(new Error('EIO'))
    await expect(waiting).rejects.toThrow('EIO')
    const again = journal.synced()
    await turn()
    syncs[1]?.done()
    await again
  })

  it('ends with a synced commit, after which a later commit still needs a sync', async () => {
    const { journal, syncs, write } = journalWithDisk()
    write()
    const waiting = journal.synced()
    journal.commit('power', (tx) => tx.emit('config.updated', { directory: '/srv' }))
    await waiting
    write()
    await turn()
    expect(syncs).toHaveLength(0)
    const later = journal.synced()
    await turn()
    expect(syncs).toHaveLength(1)
    syncs[0]?.done()
    await later
  })

  it('is shared by what is committed together: what comes during a sync is one commit after it, answered after the next', async () => {
    const { journal, syncs } = journalWithDisk()
    const answered: string[] = []
    const tell = (name: string) => journal.together((tx) => tx.emit('config.updated', { directory: name })).then(() => answered.push(name))
    const first = [tell('/a'), tell('/b')]
    await turn()
    expect({ commits: journal.commits, syncs: syncs.length, answered }).toEqual({ commits: 1, syncs: 1, answered: [] })
    const second: Promise<unknown>[] = []
    for (const name of ['/c', '/d', '/e']) {
      second.push(tell(name))
      await turn()
    }
    expect({ commits: journal.commits, syncs: syncs.length, answered }).toEqual({ commits: 1, syncs: 1, answered: [] })
    syncs[0]?.done()
    await Promise.all(first)
    expect({ commits: journal.commits, syncs: syncs.length, answered }).toEqual({ commits: 2, syncs: 2, answered: ['/a', '/b'] })
    syncs[1]?.fail(new Error('EIO'))
    for (const waiting of second) await expect(waiting).rejects.toThrow('EIO')
  })
})
