// Holds sessions-events §2.9, §11.9, §11.10.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { FrameSink } from '../../../src/ports/facades.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createBus } from '../../../src/actors/events/bus.js'
import { createFamilies } from '../../../src/actors/events/families.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { createSideStreams } from '../../../src/actors/events/side-streams.js'
import { createSubscriptions } from '../../../src/actors/events/subscriptions.js'
import { createActorDirectory } from '../../../src/kernel/roots.js'
import { createOwners } from '../../../src/actors/tenancy/owners.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { memoryStore, session } from '../../store/records.js'

function sideStreams({ pending = 0 } = {}) {
  const store = memoryStore()
  const effects = createFakeEffects()
  const bus = createBus(() => undefined)
  const journal = createJournal({ store, bus, effects })
  const looks = { all: 0, one: 0, summaries: 0 }
  const streams = createSideStreams({
    store,
    bus,
    journal,
    effects,
    subscriptions: createSubscriptions({ effects, actors: createActorDirectory({ now: () => effects.clock.now(), crashes: 8 }) }),
    families: createFamilies(store),
    owners: createOwners(store),
    executions: {
      summaries() {
        looks.summaries++
        return []
      },
    },
    activities: {
      all() {
        looks.all++
        return () => 'idle'
      },
      of() {
        looks.one++
        return 'idle'
      },
    },
  })
  const written: string[] = []
  let ended = 0
  const sink: FrameSink = {
    write: (frame) => void written.push(Buffer.from(frame).toString()),
    room: () => LIMITS.events.replayPageBytes,
    pending: () => pending,
    drained: async () => undefined,
    end: () => ended++,
  }
  const insert = (id: string) => journal.commit('process', () => store.sessions.insert(session(id)))
  const change = (id: string) =>
    journal.commit('process', (tx) => tx.emit('session.deleted', { sessionID: id, info: session(id), tenantID: 'local' }))
  const move = (id: string, previousDirectory: string, directory: string) =>
    journal.commit('process', (tx) => {
      const info = { ...session(id), directory }
      store.sessions.update(info)
      tx.emit('session.moved', { sessionID: id, info, previousDirectory, directory, switchWorkspace: false })
    })
  return { streams, looks, written, journal, sink, insert, change, move, ended: () => ended }
}

describe('the side streams', () => {
  it('look at every family for the baseline of the catalog, and at one for each edge', () => {
    const { streams, looks, sink, insert, change } = sideStreams()
    for (const id of ['ses_1', 'ses_2', 'ses_3']) insert(id)
    streams.subscribeCatalog(TRUSTED_CALLER, '/srv', sink)
    expect(looks).toEqual({ all: 1, one: 0, summaries: 0 })
    for (const id of ['ses_1', 'ses_2', 'ses_3']) change(id)
    expect(looks).toEqual({ all: 1, one: 3, summaries: 0 })
  })

  it('tell the activity again when commands in the background are others', () => {
    const { streams, written, sink, insert, journal } = sideStreams()
    insert('ses_1')
    streams.subscribeCatalog(TRUSTED_CALLER, '/srv', sink)
    written.length = 0
    journal.commit('process', (tx) =>
      tx.emit('session.background_tasks.updated', {
        sessionID: 'ses_1',
        runningBackgroundTasks: [],
        backgroundJobsEpoch: 'e',
        backgroundJobsRevision: 1,
      }),
    )
    expect(written).toEqual([expect.stringContaining('"type":"session.catalog.activity"')])
  })

  it('tell those who listen to a directory once of a session that leaves it', () => {
    const { streams, written, sink, insert, move } = sideStreams()
    insert('ses_1')
    streams.subscribeCatalog(TRUSTED_CALLER, '/srv', sink)
    written.length = 0
    move('ses_1', '/srv', '/elsewhere')
    move('ses_1', '/elsewhere', '/further')
    expect(written).toHaveLength(1)
    expect(written[0]).toContain('"type":"session.updated"')
    expect(written[0]).toContain('"directory":"/elsewhere"')
    expect(written[0]).toContain('"catalogActivity":"idle"')
  })

  it('tell the changes of one turn in one snapshot of all executions, and nothing once closed', async () => {
    const { streams, looks, written, sink, insert, change } = sideStreams()
    insert('ses_1')
    const { close } = streams.subscribeActivity(TRUSTED_CALLER, sink)
    expect(written).toHaveLength(1)
    for (let at = 0; at < 20; at++) change('ses_1')
    await turn()
    expect(written).toHaveLength(2)
    expect(looks.summaries).toBe(2)
    change('ses_1')
    close()
    await turn()
    expect(written).toHaveLength(2)
  })

  it('end an activity stream whose reader is too slow', async () => {
    const { streams, sink, insert, change, ended } = sideStreams({ pending: LIMITS.events.backlogBytes + 1 })
    insert('ses_1')
    streams.subscribeActivity(TRUSTED_CALLER, sink)
    change('ses_1')
    await turn()
    expect(ended()).toBe(1)
  })
})
