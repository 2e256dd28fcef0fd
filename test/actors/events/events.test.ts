// Holds sessions-events §4.3, §11.8.
import { setImmediate as turn } from 'node:timers/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBus } from '../../../src/actors/events/bus.js'
import type { EventQuery, FrameSink } from '../../../src/ports/facades.js'
import { interactionsPlugin } from '../../../src/plugins/interactions/interactions.plugin.js'
import { createJournal } from '../../../src/actors/events/journal.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { lives } from '../../fakes/lives.js'
import { calls, gate, type PlayedTool, says, type SeenEvent, startTestService, type TestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }

interface Record {
  readonly id: number | undefined
  readonly type: string
  readonly event: SeenEvent
}

/** A reader that takes bytes only as it is told. */
function reader() {
  const records: Record[] = []
  const state = { pending: 0, ended: 0, held: undefined as Promise<void> | undefined }
  const sink: FrameSink = {
    write(frame) {
      for (const block of new TextDecoder().decode(frame).split('\n\n')) {
        const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]))
        const data = fields.get('data')
        if (data === undefined) continue
        const id = fields.get('id')
        records.push({
          id: id === undefined ? undefined : Number(id),
          type: fields.get('event') ?? '',
          event: JSON.parse(data) as SeenEvent,
        })
      }
    },
    room: () => LIMITS.events.replayPageBytes,
    pending: () => state.pending,
    drained: () => state.held ?? Promise.resolve(),
    end: () => state.ended++,
  }
  return { sink, records, state }
}

const subscribe = (service: TestService, query: Partial<EventQuery>, sink: FrameSink, caller = TRUSTED_CALLER) =>
  service.runtime.events.subscribe(caller, { after: undefined, tail: false, limit: 1000, sessionId: undefined, ...query }, sink)

function fail(): never {
  throw new Error('broken')
}

/** A step that waits in the middle of its text. */
function half(release: Promise<void>, ...before: string[]) {
  return async (push: Parameters<TestService['steps'][number]>[0]) => {
    for (const delta of before) push({ type: 'text', delta })
    await release
    push({ type: 'text', delta: ' end' })
    push({ type: 'finish', reason: 'stop', usage: USAGE })
  }
}

describe('a subscription', () => {
  it('replays page by page while others write, without gap, repeat or disorder', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('one two three'), says('four five'))
    await service.prompt(id, 'first')
    await service.idle(id)
    const { sink, records, state } = reader()
    let held = gate()
    state.held = held.promise
    const subscription = subscribe(service, { after: 0, limit: 3 }, sink)
    expect(records).toHaveLength(3)
    await service.prompt(id, 'second')
    while (service.messages(id).length < 4 || records.length < 12) {
      const next = gate()
      state.held = next.promise
      held.open()
      held = next
      await service.effects.clock.advanceAsync(0)
    }
    state.held = undefined
    held.open()
    await service.idle(id)
    const durable = service.store.events.after(0, 10_000).map(({ sequence }) => sequence)
    while (records.findLast((record) => record.id !== undefined)?.id !== durable.at(-1)) await turn()
    const ids = records.flatMap((record) => record.id ?? [])
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
    expect(durable.filter((sequence) => !ids.includes(sequence))).toEqual([])
    const sequences = records.map(({ event }) => event.sequence)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    subscription.close()
  })

  it('is sent no more of the log at once than there is room for, and whole records', async () => {
    const service = await startTestService()
    const big = 'x'.repeat(40_000)
    for (let at = 0; at < 30; at++) await service.session({ title: `${at} ${big}` })
    const pages: Uint8Array[] = []
    const { sink, records, state } = reader()
    let held = gate()
    state.held = held.promise
    const counted = { ...sink, room: () => 100_000, write: (frame: Uint8Array) => (pages.push(frame), sink.write(frame)) }
    subscribe(service, { after: 0 }, counted)
    expect(pages).toHaveLength(1)
    const total = service.store.events.after(0, 10_000).length
    while (records.length < total) {
      const before = held
      held = gate()
      state.held = held.promise
      before.open()
      await service.effects.clock.advanceAsync(0)
    }
    for (const page of pages) expect(page.byteLength).toBeLessThan(100_000 + 2 * 40_000)
    expect(pages.length).toBeGreaterThan(8)
    expect(records.map(({ id }) => id)).toEqual(service.store.events.after(0, 10_000).map(({ sequence }) => sequence))
    const whole: Uint8Array[] = []
    subscribe(service, { after: 0 }, { ...sink, room: () => Number.POSITIVE_INFINITY, write: (frame) => void whole.push(frame) })
    expect(whole).toHaveLength(1)
    expect(whole[0]?.byteLength).toBeGreaterThan(30 * 40_000)
  })

  it('catches a late joiner up with what is being written', async () => {
    const release = gate()
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(async (push) => {
      push({ type: 'tool-input-start', callId: 'a', tool: 'echo' })
      push({ type: 'tool-input', callId: 'a', delta: '{"val' })
      await half(release.promise, 'so ', 'far')(push)
    })
    await service.prompt(id, 'go')
    await service.until(({ type, data }) => type === 'message.part.delta' && data['delta'] === 'far')
    const { sink, records } = reader()
    subscribe(service, { tail: true }, sink)
    expect(records.map(({ id: at, type }) => [at, type])).toEqual([
      [undefined, 'session.status'],
      [undefined, 'session.execution.updated'],
      [undefined, 'message.updated'],
      [undefined, 'message.part.updated'],
      [undefined, 'message.part.updated'],
      [undefined, 'message.part.updated'],
    ])
    expect(records[4]?.event.data['part']).toMatchObject({ type: 'text', text: 'so far' })
    expect(records[5]?.event.data['part']).toMatchObject({ type: 'tool', state: { status: 'pending', raw: '{"val' } })
    const head = service.running.counters()['sequence']
    expect(new Set(records.map(({ event }) => event.sequence))).toEqual(new Set([head]))
    release.open()
    await service.idle(id)
    expect(records[6]).toMatchObject({ type: 'message.part.delta', event: { data: { delta: ' end' } } })
    expect(records[6]?.id).toBeGreaterThan(head ?? 0)
    const fresh = reader()
    subscribe(service, { tail: true }, fresh.sink)
    expect(fresh.records).toEqual([])
  })

  it('begins with the status of every session at work, and of the one it asks for whatever that is', async () => {
    const service = await startTestService()
    const [busy, resting] = [await service.session(), await service.session()]
    const child = await service.session({ parentId: resting })
    const release = gate()
    service.steps.push(half(release.promise, 'so far'))
    await service.prompt(busy, 'go')
    const told = await service.until(({ type, data }) => type === 'session.status' && data['runID'] !== undefined)
    const statusesOf = (query: Partial<EventQuery>, caller = TRUSTED_CALLER) => {
      const { sink, records } = reader()
      subscribe(service, { tail: true, ...query }, sink, caller).close()
      return records.flatMap(({ id, type, event }) => (type === 'session.status' && id === undefined ? [event.data] : []))
    }
    expect(statusesOf({})).toEqual([told.data])
    expect(statusesOf({ sessionId: busy })).toEqual([told.data])
    expect(statusesOf({ sessionId: resting })).toEqual([{ sessionID: resting, status: { type: 'idle' } }])
    expect(statusesOf({ sessionId: child })).toMatchObject([{ sessionID: child, status: { type: 'idle' }, parentSessionID: resting }])
    expect(statusesOf({ sessionId: 'ses_unknown' })).toEqual([])
    expect(statusesOf({ sessionId: busy }, { ...TRUSTED_CALLER, tenantId: 'other' })).toEqual([])
    release.open()
    await service.idle(busy)
    expect(statusesOf({})).toEqual([])
    const resumed = reader()
    subscribe(service, { sessionId: busy, after: told.sequence }, resumed.sink)
    await service.effects.clock.advanceAsync(0)
    expect(resumed.records.at(-1)).toMatchObject({ id: undefined, event: { data: { sessionID: busy, status: { type: 'idle' } } } })
  })

  it('to a session hears its whole family, later children and their requests, and nobody else', async () => {
    const ask: PlayedTool = {
      id: 'ask',
      needs: () => [{ permission: 'ask', patterns: ['x'], title: 'Ask' }],
      invoke: async () => ({ title: '', output: '' }),
    }
    const service = await startTestService({ tools: [ask], config: { permission: { ask: 'ask' } } })
    const root = await service.session()
    const first = await service.session({ parentId: root })
    const { sink, records } = reader()
    subscribe(service, { sessionId: first, tail: true }, sink)
    await service.session()
    const second = await service.session({ parentId: first })
    service.steps.push(calls({ callId: 'a', tool: 'ask' }), says('x'))
    await service.prompt(second, 'go')
    const asked = await service.until(({ type }) => type === 'permission.asked')
    service.runtime.interactions.replyPermission(asked.data['id'], { reply: 'once' })
    await service.idle(second)
    await service.runtime.sessions.delete(TRUSTED_CALLER, second)
    const subjects = new Set(records.map(({ event }) => event.data['sessionID'] ?? event.data['sessionId']))
    expect(subjects).toEqual(new Set([first, second, root]))
    expect(records.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['session.created', 'permission.asked', 'permission.replied', 'message.part.delta']),
    )
    expect(records.at(-1)).toMatchObject({ type: 'session.deleted', event: { data: { sessionID: second } } })
    const replay = reader()
    subscribe(service, { sessionId: second, after: 0 }, replay.sink)
    await service.effects.clock.advanceAsync(0)
    expect(replay.records.at(-1)).toMatchObject({ type: 'session.deleted' })
  })

  it('to an unknown session is silent', async () => {
    const service = await startTestService()
    const { sink, records, state } = reader()
    subscribe(service, { sessionId: 'ses_unknown' }, sink)
    await service.session()
    expect(records).toEqual([])
    expect(state.ended).toBe(0)
  })

  it('is told when its cursor cannot be served', async () => {
    const service = await startTestService()
    await service.session()
    const head = service.running.counters()['sequence'] ?? 0
    const { sink } = reader()
    expect(() => subscribe(service, { after: head + 1 }, sink)).toThrow('never handed out')
    service.store.prune({ before: service.effects.clock.now() + 1, maxRows: 0, maxBytes: 0, batch: 100, auditRows: 1 })
    expect(() => subscribe(service, { after: head - 1 }, sink)).toThrow(expect.objectContaining({ code: 'events.cursor_expired' }))
    for (const after of [head, 0]) expect(subscribe(service, { after }, sink)).not.toHaveProperty('trimmed')
    for (const after of [Number.MAX_SAFE_INTEGER, 2 * head]) expect(() => subscribe(service, { after }, sink)).toThrow('never handed out')
  })

  it('with a cursor of a store that was there before gets all of this one, is told so, and hears what happens', async () => {
    const service = await startTestService()
    const begun = service.store.events.begunAfter()
    expect(begun).toBe(service.effects.clock.now() * 1000)
    const id = await service.session()
    const kept = service.store.events.after(0, 100).map(({ sequence }) => sequence)
    for (const after of [1, 65_536, begun - 1]) {
      const { sink, records } = reader()
      expect(subscribe(service, { after, sessionId: id }, sink)).toMatchObject({ trimmed: begun })
      expect(records.flatMap((record) => record.id ?? [])).toEqual(kept)
      service.runtime.sessions.pin(id, true)
      expect(records.at(-1)).toMatchObject({ type: 'session.updated', event: { data: { info: { pinned: true } } } })
      kept.push(records.at(-1)?.id ?? 0)
    }
    expect(subscribe(service, { after: begun }, reader().sink)).not.toHaveProperty('trimmed')
  })

  it('ends when what it still has to replay is pruned', async () => {
    const service = await startTestService()
    for (let at = 0; at < 5; at++) await service.session()
    const { sink, records, state } = reader()
    const held = gate()
    state.held = held.promise
    subscribe(service, { after: 0, limit: 2 }, sink)
    service.store.prune({ before: service.effects.clock.now() + 1, maxRows: 0, maxBytes: 0, batch: 100, auditRows: 1 })
    held.open()
    await service.effects.clock.advanceAsync(0)
    expect(records).toHaveLength(2)
    expect(state.ended).toBe(1)
  })

  it('ends when its reader lags behind, and alone', async () => {
    const service = await startTestService()
    const id = await service.session()
    const slow = reader()
    slow.state.pending = LIMITS.events.backlogBytes + 1
    const fast = reader()
    const before = service.running.counters()['subscribers'] ?? 0
    subscribe(service, { tail: true }, slow.sink)
    subscribe(service, { tail: true }, fast.sink)
    service.steps.push(async (push) => {
      for (let at = 0; at < 200; at++) {
        push({ type: 'text', delta: 'x' })
        await nextTurn()
      }
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    })
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(slow.state.ended).toBe(1)
    expect(slow.records.length).toBeLessThan(100)
    expect(fast.records.length).toBeGreaterThan(200)
    expect(service.running.counters()).toMatchObject({ subscribers: before + 1 })
  })

  it('ends when its sink fails', async () => {
    const service = await startTestService()
    const { sink, state } = reader()
    subscribe(service, { tail: true }, { ...sink, write: fail })
    await service.session()
    expect(state.ended).toBe(1)
  })

  it('is an actor that replays, is live, and ends as it was ended', async () => {
    const service = await startTestService()
    for (let at = 0; at < 3; at++) await service.session()
    const seen = lives(service)
    const readers = Array.from({ length: 5 }, reader)
    const [gone, stalled, late, lagging, broken] = readers.map(({ sink }, at) =>
      subscribe(service, at < 3 ? { after: 0, limit: 2 } : { tail: true }, { ...sink, write: at === 4 ? fail : sink.write }),
    )
    await service.effects.clock.advanceAsync(0)
    gone?.close()
    stalled?.close('stalled')
    for (const each of readers) each.state.pending = LIMITS.events.backlogBytes + 1
    late?.close()
    for (let at = 0; at < 64; at++) await service.session()
    lagging?.close()
    broken?.close()
    expect(seen('subscription:')).toEqual([
      ['replaying', 'live', 'ended', '(done)'],
      ['replaying', 'live', 'lagged', '(done)'],
      ['replaying', 'live', 'ended', '(done)'],
      ['live', 'lagged', '(done)'],
      ['live', 'ended', '(done)'],
    ])
    expect(readers.map(({ state }) => state.ended)).toEqual([0, 1, 0, 1, 1])
  })

  it('that is read up at once is live before anybody can hear of it', async () => {
    const service = await startTestService()
    await service.session()
    const seen = lives(service)
    const { sink, records } = reader()
    subscribe(service, { after: 0 }, sink)
    expect(seen('subscription:')).toEqual([['replaying', 'live']])
    const count = records.length
    const id = await service.session()
    expect(records.slice(count)).toMatchObject([{ type: 'session.created', event: { data: { sessionID: id } } }])
  })

  it('of another tenant or another directory hears nothing, live or replayed', async () => {
    const service = await startTestService()
    const id = await service.session()
    const strangers = [
      { ...TRUSTED_CALLER, tenantId: 'other' },
      { ...TRUSTED_CALLER, directoryPrefixes: ['/elsewhere'] },
    ].map((caller) => {
      const { sink, records } = reader()
      subscribe(service, { after: 0 }, sink, caller)
      return { caller, records }
    })
    const own = reader()
    subscribe(service, { after: 0 }, own.sink, { ...TRUSTED_CALLER, directoryPrefixes: [service.directory] })
    service.steps.push(says('x'))
    await service.prompt(id, 'go')
    await service.idle(id)
    for (const { caller, records } of strangers) {
      expect(records).toEqual([])
      expect(service.runtime.events.activity(caller)).toEqual([])
    }
    expect(own.records.length).toBeGreaterThan(10)
  })
})

describe('the catalog stream', () => {
  it('begins with the roots of the directory and follows their edges', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sink, records } = reader()
    const stranger = reader()
    const { close } = service.runtime.events.subscribeCatalog(TRUSTED_CALLER, service.directory, sink)
    service.runtime.events.subscribeCatalog({ ...TRUSTED_CALLER, tenantId: 'other' }, service.directory, stranger.sink)
    expect(records).toMatchObject([
      { id: undefined, type: 'session.catalog.activity', event: { data: { sessionID: id, activity: 'idle' } } },
    ])
    const child = await service.session({ parentId: id })
    service.steps.push(says('x'))
    await service.prompt(child, 'go')
    await service.idle(child)
    const activities = records.map(({ type, event }) => (type === 'session.catalog.activity' ? event.data['activity'] : type))
    expect(activities).toContain('running')
    expect(activities.at(-1)).toBe('idle')
    expect(new Set(records.map(({ event }) => event.data['sessionID']))).toEqual(new Set([id]))
    service.runtime.sessions.pin(id, true)
    expect(records.at(-2)).toMatchObject({ type: 'session.updated', event: { data: { info: { pinned: true, catalogActivity: 'idle' } } } })
    await service.runtime.sessions.delete(TRUSTED_CALLER, id)
    expect(records.at(-1)).toMatchObject({ type: 'session.deleted', event: { data: { sessionID: id } } })
    const count = records.length
    close()
    await service.session()
    expect(records).toHaveLength(count)
    expect(stranger.records).toEqual([])
  })
})

describe('the activity of a session', () => {
  const ask: PlayedTool = {
    id: 'ask',
    needs: () => [{ permission: 'ask', patterns: ['x'], title: 'Ask' }],
    invoke: async () => ({ title: '', output: '' }),
  }
  const question = { callId: 'q', tool: 'question', input: { questions: [{ question: 'Which?', header: 'Which', options: [] }] } }

  it.each([
    ['permission.asked', { callId: 'a', tool: 'ask' }],
    ['question.asked', question],
  ])('is permission from %s until it is answered, in stream and list', async (asks, call) => {
    const service = await startTestService({ tools: [ask], plugins: [interactionsPlugin()], config: { permission: { ask: 'ask' } } })
    const id = await service.session()
    const { sink, records } = reader()
    service.runtime.events.subscribeCatalog(TRUSTED_CALLER, service.directory, sink)
    const listed = () => {
      const { rawJson } = service.runtime.sessions.list(TRUSTED_CALLER, {})
      return (JSON.parse(rawJson) as { items: { catalogActivity: string }[] }).items.map(({ catalogActivity }) => catalogActivity)
    }
    service.steps.push(calls(call), says('x'))
    await service.prompt(id, 'go')
    const asked = await service.until(({ type }) => type === asks)
    expect(records.at(-1)?.event.data).toEqual({ sessionID: id, activity: 'permission' })
    expect(listed()).toEqual(['permission'])
    const count = records.length
    const { interactions } = service.runtime
    if (asks === 'permission.asked') interactions.replyPermission(asked.data['id'], { reply: 'once' })
    else interactions.replyQuestion(asked.data['id'], { answers: [['This']] })
    expect(records[count]?.event.data).toEqual({ sessionID: id, activity: 'running' })
    expect(listed()).toEqual(['running'])
    await service.idle(id)
    expect(records.at(-1)?.event.data).toEqual({ sessionID: id, activity: 'idle' })
  })
})

describe('the activity stream', () => {
  it('sends everything at once, at every change and every fifteen seconds', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sink, records } = reader()
    const { close } = service.runtime.events.subscribeActivity(TRUSTED_CALLER, sink)
    expect(records).toMatchObject([{ id: undefined, type: 'execution.snapshot', event: [] }])
    service.steps.push(says('x'))
    await service.prompt(id, 'go')
    await service.idle(id)
    await turn()
    expect(records.at(-1)?.event).toMatchObject([{ rootSessionId: id, finished: true }])
    const count = records.length
    await service.effects.clock.advanceAsync(LIMITS.events.activityInterval)
    expect(records).toHaveLength(count + 1)
    close()
    await service.effects.clock.advanceAsync(LIMITS.events.activityInterval)
    expect(records).toHaveLength(count + 1)
  })
})

describe('the journal', () => {
  function start() {
    const effects = createFakeEffects()
    const store = openStore({ directory: ':memory:', now: () => effects.clock.now() })
    const bus = createBus(() => undefined)
    const seen: number[] = []
    bus.subscribe(
      (record) => seen.push(record.sequence),
      () => undefined,
    )
    return { journal: createJournal({ store, bus, effects }), store, seen }
  }

  it('never runs out of numbers inside a commit', () => {
    const { journal, seen } = start()
    for (let at = 0; at < LIMITS.store.sequenceBlock - 3; at++) journal.publishDelta('ses_1', 'msg_1', 'prt_1', 'text', '"x"')
    const before = seen.length
    journal.commit('process', (tx) => {
      for (let at = 0; at < 10; at++) tx.emit('config.updated', {})
    })
    expect(seen).toHaveLength(before + 10)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('publishes nothing of a change that throws, and runs nothing after it', () => {
    const { journal, seen, store } = start()
    let ran = false
    const change = () =>
      journal.commit('process', (tx) => {
        tx.emit('config.updated', {})
        tx.after(() => (ran = true))
        throw new Error('no')
      })
    expect(change).toThrow('no')
    expect(seen).toEqual([])
    expect(ran).toBe(false)
    expect(store.events.after(0, 10)).toEqual([])
    journal.commit('process', (tx) => tx.emit('config.updated', {}))
    expect(seen).toHaveLength(1)
  })
})
