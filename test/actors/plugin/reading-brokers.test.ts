// Holds threat-model K2.
import { describe, expect, test } from 'vitest'
import { createLive } from '../../../src/actors/events/live.js'
import type { Broker } from '../../../src/actors/plugin/brokers/broker.js'
import { messageBroker } from '../../../src/actors/plugin/brokers/message-read.broker.js'
import { promptBroker } from '../../../src/actors/plugin/brokers/prompt-read.broker.js'
import { responseBroker } from '../../../src/actors/plugin/brokers/response-transform.broker.js'
import type { InstancePlace } from '../../../src/actors/plugin/generation/instance.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { AssistantInfo, UserInfo } from '../../../src/protocol/message/message.js'
import { ZERO_USAGE } from '../../../src/protocol/message/token-usage.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import type { Store } from '../../../src/store/store.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { leaseOf, storeWith } from './fake-lease.js'

const SESSIONS = ['ses_1', { id: 'ses_task', parentId: 'ses_1' }, 'ses_2', { id: 'ses_other', directory: '/other' }] as const

function say(store: Store, sessionId: string, role: 'user' | 'assistant', id: string, text: string, more: Partial<UserInfo> = {}): void {
  const user: UserInfo = {
    role: 'user',
    id,
    sessionId,
    time: { created: 5 },
    agent: 'build',
    model: { providerId: 'svc', modelId: 'offline' },
    ...more,
  }
  const assistant: AssistantInfo = {
    role: 'assistant',
    id,
    sessionId,
    time: { created: 6, completed: 7 },
    parentId: 'msg_1',
    mode: 'build',
    agent: 'build',
    path: { cwd: '/', root: '/' },
    cost: 0,
    tokens: ZERO_USAGE,
    modelId: 'offline',
    providerId: 'svc',
  }
  store.transact('process', () => {
    store.messages.append(role === 'user' ? user : assistant, [{ id: `prt_${id}`, sessionId, messageId: id, type: 'text', text }])
  })
}

function setUp(make: (of: { store: Store; effects: FakeEffects }) => readonly [HostCapability, Broker], place?: InstancePlace) {
  const effects = createFakeEffects({ env: { OPENAI_API_KEY: 'sk-very-secret-value' } })
  const store = storeWith(effects, SESSIONS)
  say(store, 'ses_1', 'user', 'msg_1', 'first, with sk-very-secret-value')
  say(store, 'ses_1', 'assistant', 'msg_2', 'an answer')
  say(store, 'ses_1', 'user', 'msg_3', '<svc-runtime-notification>', { system: '<svc-runtime-notification>\ntold' })
  say(store, 'ses_1', 'user', 'msg_4', 'second')
  say(store, 'ses_task', 'user', 'msg_5', 'of the task')
  say(store, 'ses_2', 'user', 'msg_6', 'of another session')
  say(store, 'ses_other', 'user', 'msg_7', 'of another workspace')
  const lease = leaseOf(effects, make({ store, effects }), place && { place: { ...place, workspace: effects.paths.cwd } })
  return { effects, store, lease }
}

describe('messages', () => {
  const messages = (place?: InstancePlace) => setUp((of) => ['message-read', messageBroker(of)], place)
  const idsOf = (answer: unknown) => (answer as { messages: { info: { id: string } }[] }).messages.map(({ info }) => info.id)

  test('are those of the session that is served and of those below it, page by page', async () => {
    const { lease } = messages()
    lease.served.heard('ses_1')
    const first = (await lease.call('list', { sessionId: 'ses_1', limit: 3 })) as { cursor: string }
    expect([idsOf(first), first.cursor]).toEqual([['msg_4', 'msg_3', 'msg_2'], 'msg_2'])
    const second = (await lease.call('list', { sessionId: 'ses_1', limit: 3, cursor: first.cursor })) as { cursor: null }
    expect([idsOf(second), second.cursor]).toEqual([['msg_1'], null])
    expect(idsOf(await lease.call('list', { sessionId: 'ses_1', order: 'oldest-first' }))).toEqual(['msg_1', 'msg_2', 'msg_3', 'msg_4'])
    expect(idsOf(await lease.call('list', { sessionId: 'ses_task' }))).toEqual(['msg_5'])
    expect(await lease.call('sessions', { sessionId: 'ses_1' })).toEqual({
      sessions: [
        { sessionId: 'ses_1', parentId: null, title: 'title of ses_1', agent: null },
        { sessionId: 'ses_task', parentId: 'ses_1', title: 'title of ses_task', agent: null },
      ],
    })
  })

  test('are those of no other session, and no other workspace', async () => {
    const { lease } = messages()
    await expect(lease.call('list')).rejects.toThrow('serves no session')
    lease.served.heard('ses_1')
    lease.served.heard('ses_other')
    for (const sessionId of ['ses_2', 'ses_other', 'ses_unknown'])
      await expect(lease.call('list', { sessionId })).rejects.toThrow('none of its own')
    for (const messageId of ['msg_6', 'msg_7', 'msg_unknown'])
      await expect(lease.call('get', { messageId })).rejects.toThrow(new RegExp(`^"${messageId}": .*none of its own`))
    await expect(lease.call('list', { sessionId: 'ses_1', cursor: 'msg_6' })).rejects.toThrow('the cursor')
  })

  test('are told without secrets, one by one, too', async () => {
    const { lease } = messages({ scope: 'session', scopeId: 'ses_1' })
    expect(await lease.call('get', { messageId: 'msg_1' })).toMatchObject({
      message: { info: { id: 'msg_1', role: 'user' }, parts: [{ type: 'text', text: 'first, with [redacted]' }], cut: false },
    })
  })

  test('have room in one answer, however long they are', async () => {
    const { lease, store } = messages({ scope: 'session', scopeId: 'ses_2' })
    const { textBytes } = LIMITS.pluginReads
    for (let count = 0; count < 8; count++) say(store, 'ses_2', 'user', `msg_long_${count}`, '"\u{1}'.repeat(textBytes))
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const answer = (await lease.call('list', { order: 'oldest-first', ...(cursor !== undefined && { cursor }) })) as {
        cursor: string | null
      }
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(LIMITS.plugins.brokerOutput)
      seen.push(...idsOf(answer))
      cursor = answer.cursor
    }
    expect(seen).toEqual(['msg_6', ...Array.from({ length: 8 }, (_, count) => `msg_long_${count}`)])
  })
})

describe('prompts', () => {
  const prompts = (place?: InstancePlace) => setUp((of) => ['prompt-read', promptBroker(of)], place)
  const FIRST = { sessionId: 'ses_1', messageId: 'msg_1', text: 'first, with [redacted]', cut: false, agent: 'build', createdAt: 5 }
  const SECOND = { ...FIRST, messageId: 'msg_4', text: 'second' }

  test('are what people said in sessions of the workspace, the latest first', async () => {
    const { lease } = prompts()
    expect(await lease.call('list', { sessionId: 'ses_1' })).toEqual({ prompts: [SECOND, FIRST], cursor: null })
    const page = (await lease.call('list', { sessionId: 'ses_1', limit: 1 })) as { prompts: unknown; cursor: string }
    expect(page.prompts).toEqual([SECOND])
    expect(await lease.call('list', { sessionId: 'ses_1', cursor: page.cursor })).toMatchObject({ prompts: [FIRST] })
    expect(await lease.call('current', { sessionId: 'ses_2' })).toMatchObject({ prompt: { text: 'of another session' } })
    await expect(lease.call('current')).rejects.toThrow('serves no session')
    await expect(lease.call('current', { sessionId: 'ses_other' })).rejects.toThrow('none of its own')
  })

  test('of a plugin of a session are those of its family', async () => {
    const { lease } = prompts({ scope: 'session', scopeId: 'ses_1' })
    expect(await lease.call('current')).toEqual({ prompt: SECOND })
    expect(await lease.call('current', { sessionId: 'ses_task' })).toMatchObject({ prompt: { text: 'of the task' } })
    await expect(lease.call('current', { sessionId: 'ses_2' })).rejects.toThrow('none of its own')
    expect(await lease.call('sessions')).toMatchObject({ sessions: [{ sessionId: 'ses_1' }, { sessionId: 'ses_task' }], cursor: null })
  })

  test('that wait are told, too', async () => {
    const { lease, store } = prompts()
    store.transact('process', () => {
      const request = { messageId: 'msg_9', parts: [{ type: 'text' as const, text: 'later' }], noReply: false }
      store.queue.append({ id: 'que_1', sessionId: 'ses_2', delivery: 'queue', request, created: 1 })
    })
    expect(await lease.call('waiting', { sessionId: 'ses_2' })).toEqual({
      prompts: [{ sessionId: 'ses_2', messageId: 'msg_9', text: 'later', cut: false, agent: null, createdAt: null }],
    })
  })

  test('are found by the sessions of the workspace', async () => {
    const { lease } = prompts()
    const first = (await lease.call('sessions', { limit: 2 })) as { sessions: { sessionId: string }[]; cursor: string }
    const second = (await lease.call('sessions', { limit: 2, cursor: first.cursor })) as typeof first
    const ids = [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId)
    expect([ids.toSorted(), second.cursor]).toEqual([['ses_1', 'ses_2', 'ses_task'], null])
    await expect(lease.call('sessions', { cursor: 'x' })).rejects.toThrow('the cursor')
  })
})

describe('the text of an answer', () => {
  test('is read and replaced while it is recorded', async () => {
    const live = createLive()
    const replaced: unknown[] = []
    const { lease } = setUp(({ store }) => ['response-transform', responseBroker({ store, live })])
    lease.served.heard('ses_1')
    const at = { sessionId: 'ses_1' }
    expect(await lease.call('read', at)).toEqual({ open: null })
    await expect(lease.call('replace', { ...at, partId: 'p', length: 0, text: 'x' })).rejects.toThrow('the text is closed')
    const end = live.add('msg_2', {
      sessionId: 'ses_1',
      info: () => {
        throw new Error('not asked')
      },
      parts: () => [],
      text: { current: () => ({ messageId: 'msg_2', partId: 'p', text: 'so far' }), replace: (given) => (replaced.push(given), 9) },
    })
    expect(await lease.call('read', at)).toEqual({ open: { ...at, messageId: 'msg_2', partId: 'p', text: 'so far', length: 6 } })
    expect(await lease.call('replace', { ...at, partId: 'p', length: 6, text: 'otherwise' })).toEqual({ length: 9 })
    expect(replaced).toEqual([{ partId: 'p', length: 6, text: 'otherwise' }])
    end()
    expect(await lease.call('read', at)).toEqual({ open: null })
  })
})
