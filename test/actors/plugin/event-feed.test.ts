// Holds sessions-events §11.12; plugin-protocol §5.4.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBus } from '../../../src/actors/events/bus.js'
import { createEventCommit } from '../../../src/actors/plugin/brokers/events/event-commit.js'
import { startEventFeed } from '../../../src/actors/plugin/calls/event-feed.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { PluginEvent } from '../../../src/protocol/plugin/plugin-requests.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { session as sessionRow } from '../../store/records.js'

interface Delivered {
  readonly event: PluginEvent
  readonly of: { readonly directory: string | undefined; readonly sessionId: string | undefined }
}

function setup(options: { wanted?: () => boolean; deliver?: (event: PluginEvent) => void } = {}) {
  const effects = createFakeEffects()
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now() })
  onTestFinished(() => store.close())
  const bus = createBus((error) => expect.fail(String(error)))
  const journal = createJournal({ store, bus, effects })
  const delivered: Delivered[] = []
  const feed = startEventFeed({
    bus,
    store,
    effects,
    plugins: {
      wantsEvents: options.wanted ?? (() => true),
      deliver(event, of) {
        delivered.push({ event, of })
        options.deliver?.(event)
      },
    },
  })
  const add = (id: string, directory: string): Session => {
    const info = sessionRow(id, { directory })
    store.transact('process', () => store.sessions.insert(info))
    return info
  }
  return { effects, store, bus, journal, feed, delivered, add, publish: createEventCommit({ journal, store, effects }) }
}

describe('events on their way to plugins', () => {
  it('come after the commit, in order, with their session and its workspace', async () => {
    const { journal, delivered, add } = setup()
    add('ses_a', '/project/a')
    journal.commit('process', (tx) => {
      tx.emit('todo.updated', { sessionID: 'ses_a', todos: [] })
      tx.emit('config.updated', { directory: '/project/b' })
    })
    expect(delivered).toEqual([])
    await setImmediate()
    expect(delivered.map(({ event, of }) => [event.type, of])).toEqual([
      ['todo.updated', { sessionId: 'ses_a', directory: '/project/a' }],
      ['config.updated', { sessionId: undefined, directory: '/project/b' }],
    ])
    const [first, second] = delivered.map(({ event }) => event)
    expect(first).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'todo.updated',
      sequence: expect.any(Number),
      properties: { sessionID: 'ses_a', todos: [] },
    })
    expect(second?.sequence).toBe((first?.sequence ?? 0) + 1)
  })

  it('have all come once the feed has caught up, however many wait', async () => {
    const { journal, feed, delivered, add } = setup()
    add('ses_a', '/project/a')
    await feed.caughtUp()
    journal.commit('process', (tx) => {
      for (let index = 0; index < 100; index++) tx.emit('todo.updated', { sessionID: 'ses_a', todos: [] })
    })
    await feed.caughtUp()
    expect(delivered).toHaveLength(100)
  })

  it('leave out what is not stored, and everything while nobody wants any', async () => {
    let wanted = false
    const { journal, delivered } = setup({ wanted: () => wanted })
    journal.commit('process', (tx) => tx.emit('config.updated', {}))
    wanted = true
    journal.publishDelta('ses_a', 'msg_a', 'prt_a', 'text', '"x"')
    journal.commit('process', (tx) => tx.emit('config.updated', { directory: '/later' }))
    await setImmediate()
    expect(delivered.map(({ of }) => of.directory)).toEqual(['/later'])
  })

  it('follow a session that moves, and know where a deleted one was', async () => {
    const { journal, store, delivered, add } = setup()
    const info = add('ses_a', '/project/a')
    journal.commit('process', (tx) => tx.emit('todo.updated', { sessionID: 'ses_a', todos: [] }))
    journal.commit('process', (tx) => {
      store.sessions.update({ ...info, directory: '/project/b' })
      tx.emit('session.updated', { sessionID: 'ses_a', info: { ...info, directory: '/project/b' } })
    })
    journal.commit('process', (tx) => tx.emit('todo.updated', { sessionID: 'ses_a', todos: [] }))
    journal.commit('process', (tx) => {
      store.sessions.delete('ses_a')
      tx.emit('session.deleted', { sessionID: 'ses_a', info: { ...info, directory: '/project/b' }, tenantID: 'local' })
    })
    await setImmediate()
    expect(delivered.map(({ of }) => of.directory)).toEqual(['/project/a', '/project/b', '/project/b', '/project/b'])
  })

  it('are skipped and counted beyond the queue, never kept without end', async () => {
    const { journal, feed, delivered } = setup()
    const { eventQueue } = LIMITS.plugins
    journal.commit('process', (tx) => {
      for (let count = 0; count < eventQueue + 3; count++) tx.emit('config.updated', { directory: `/${count}` })
    })
    expect(feed.skipped).toBe(3)
    while (delivered.length < eventQueue) await setImmediate()
    expect(delivered.at(-1)?.of.directory).toBe(`/${eventQueue - 1}`)
  })

  it('go on after a plugin threw, and end with the feed', async () => {
    const { journal, feed, delivered } = setup({
      deliver: () => {
        throw new Error('broken')
      },
    })
    journal.commit('process', (tx) => tx.emit('config.updated', {}))
    await setImmediate()
    journal.commit('process', (tx) => tx.emit('config.updated', {}))
    await setImmediate()
    expect(delivered).toHaveLength(2)
    journal.commit('process', (tx) => tx.emit('config.updated', {}))
    feed.stop()
    await setImmediate()
    expect(delivered).toHaveLength(2)
  })
})

describe('events plugins publish', () => {
  it('are durable, named after their plugin, and of its workspace', async () => {
    const { publish, store, delivered } = setup()
    publish('dev.example.one', 'plugin.example.ping', { n: 1 }, { scope: 'workspace', workspace: '/project/a' })
    await setImmediate()
    expect(delivered).toEqual([
      {
        event: { id: expect.any(String), type: 'plugin.example.ping', sequence: expect.any(Number), properties: { n: 1 } },
        of: { directory: '/project/a', sessionId: undefined },
      },
    ])
    const [row] = store.events.after(0, 10)
    expect(JSON.parse(row?.json ?? '')).toMatchObject({ type: 'plugin.example.ping', source: 'dev.example.one', data: { n: 1 } })
  })

  it('may name a session of the workspace and no other', () => {
    const { publish, store, add } = setup()
    add('ses_a', '/project/a')
    add('ses_b', '/project/b')
    publish('dev.example.one', 'plugin.example.ping', { sessionID: 'ses_a' }, { scope: 'workspace', workspace: '/project/a' })
    const [row] = store.events.after(0, 10)
    expect(JSON.parse(row?.json ?? '')).toMatchObject({ subject: { kind: 'session', id: 'ses_a' } })
    for (const sessionID of ['ses_b', 'ses_gone'])
      expect(() =>
        publish('dev.example.one', 'plugin.example.ping', { sessionID }, { scope: 'workspace', workspace: '/project/a' }),
      ).toThrow(expect.objectContaining({ code: 'request.forbidden' }))
    expect(store.events.after(0, 10)).toHaveLength(1)
  })

  it('of a session plugin are about its session', () => {
    const { publish, store, add } = setup()
    add('ses_a', '/project/a')
    add('ses_b', '/project/a')
    const place = { scope: 'session', workspace: '/project/a', scopeId: 'ses_a' } as const
    publish('dev.example.one', 'plugin.example.ping', null, place)
    expect(store.events.after(0, 10)[0]?.sessionId).toBe('ses_a')
    expect(() => publish('dev.example.one', 'plugin.example.ping', { sessionId: 'ses_b' }, place)).toThrow(
      expect.objectContaining({ code: 'request.forbidden' }),
    )
  })

  it('are bounded in size and in number', () => {
    const { publish, effects } = setup()
    const place = { scope: 'global' } as const
    expect(() => publish('dev.example.one', 'plugin.example.big', 'x'.repeat(LIMITS.events.recordBytes / 4), place)).toThrow(
      expect.objectContaining({ code: 'request.unprocessable' }),
    )
    for (let count = 1; count < LIMITS.plugins.publishedPerSecond; count++) publish('dev.example.one', 'plugin.example.ping', count, place)
    expect(() => publish('dev.example.one', 'plugin.example.ping', 0, place)).toThrow(expect.objectContaining({ code: 'quota.exceeded' }))
    publish('dev.example.two', 'plugin.example.ping', 0, place)
    effects.clock.advance(1000)
    publish('dev.example.one', 'plugin.example.ping', 0, place)
  })

  it('are counted before they are looked at, so that a flood of what is refused costs nothing', () => {
    const { publish, store } = setup()
    const place = { scope: 'workspace', workspace: '/project' } as const
    let looked = 0
    const payload = {
      get sessionID() {
        looked++
        return 'ses_nobody'
      },
    }
    const codes = Array.from({ length: 2 * LIMITS.plugins.publishedPerSecond }, () => {
      try {
        publish('dev.example.one', 'plugin.example.ping', payload, place)
        return 'published'
      } catch (error) {
        return error instanceof SvcError ? error.code : String(error)
      }
    })
    const half = LIMITS.plugins.publishedPerSecond
    expect(codes).toEqual([
      ...Array.from({ length: half }, () => 'request.forbidden'),
      ...Array.from({ length: half }, () => 'quota.exceeded'),
    ])
    const before = looked
    expect(() => publish('dev.example.one', 'plugin.example.ping', payload, place)).toThrow(
      expect.objectContaining({ code: 'quota.exceeded' }),
    )
    expect(looked).toBe(before)
    expect(before).toBeGreaterThan(0)
    expect(store.sessions.get('ses_nobody')).toBeUndefined()
  })
})
