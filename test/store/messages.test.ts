// Holds http-contract §2.6, §4.2, §4.3; sessions-events §5.
import { describe, expect, it } from 'vitest'
import type { Message, Part } from '../../src/protocol/message/message.js'
import type { Store } from '../../src/store/store.js'
import { assistant, memoryStore, session, text, user } from './records.js'

function conversation(...messages: Message[]): Store {
  const store = memoryStore()
  store.transact('power', () => {
    store.sessions.insert(session('ses_1'))
    store.sessions.insert(session('ses_2'))
    for (const { info, parts } of messages) store.messages.append(info, parts)
  })
  return store
}

const question: Message = { info: user('msg_1'), parts: [text('prt_2', 'msg_1'), text('prt_1', 'msg_1')] }
const answer: Message = { info: assistant('msg_2', 5), parts: [text('prt_3', 'msg_2', 'quo"te \u2028 \u0000 \ud83d\ude00 \ud800')] }
const empty: Message = { info: assistant('msg_0'), parts: [] }

describe('messages', () => {
  it('keeps messages in the order of their arrival, whatever their ids', () => {
    const store = conversation(question, answer, empty)
    expect(store.messages.all('ses_1')).toEqual([question, answer, empty])
    expect(store.messages.all('ses_2')).toEqual([])
  })

  it('pages as the very texts that serialising the messages gives', () => {
    const store = conversation(question, answer, empty)
    expect(store.messages.page({ sessionId: 'ses_1', order: 'asc' })).toEqual({
      items: [question, answer, empty].map((message) => JSON.stringify(message)),
      next: undefined,
    })
  })

  it('walks both ways page by page', () => {
    const store = conversation(question, answer, empty)
    const ids = (page: { items: string[] }) => page.items.map((item) => (JSON.parse(item) as Message).info.id)
    const first = store.messages.page({ sessionId: 'ses_1', order: 'asc', limit: 2 })
    expect([ids(first), first.next]).toEqual([['msg_1', 'msg_2'], 'msg_2'])
    const second = store.messages.page({ sessionId: 'ses_1', order: 'asc', limit: 2, cursor: first.next })
    expect([ids(second), second.next]).toEqual([['msg_0'], undefined])
    const newest = store.messages.page({ sessionId: 'ses_1', order: 'desc', limit: 2 })
    expect([ids(newest), newest.next]).toEqual([['msg_0', 'msg_2'], 'msg_2'])
    const rest = store.messages.page({ sessionId: 'ses_1', order: 'desc', limit: 2, cursor: newest.next })
    expect([ids(rest), rest.next]).toEqual([['msg_1'], undefined])
  })

  it('takes the id of a part as a cursor for its message', () => {
    const store = conversation(question, answer, empty)
    const page = (order: 'asc' | 'desc') => store.messages.page({ sessionId: 'ses_1', order, cursor: 'prt_3' }).items
    expect([page('asc'), page('desc')]).toEqual([[JSON.stringify(empty)], [JSON.stringify(question)]])
  })

  it('ignores a cursor that is unknown or of another session', () => {
    const store = conversation(question, { info: user('msg_9', 'ses_2'), parts: [] })
    for (const cursor of ['msg_none', 'msg_9']) {
      expect(store.messages.page({ sessionId: 'ses_1', order: 'asc', cursor }).items).toHaveLength(1)
      expect(store.messages.page({ sessionId: 'ses_1', order: 'desc', cursor }).items).toHaveLength(1)
    }
  })

  it('finds single messages, infos and parts', () => {
    const store = conversation(question)
    expect(store.messages.get('msg_1')).toEqual(question)
    expect(store.messages.getInfo('msg_1')).toEqual(question.info)
    expect(store.messages.getPart('prt_2')).toEqual(question.parts[0])
    expect(store.messages.get('msg_x')).toBeUndefined()
    expect(store.messages.getInfo('msg_x')).toBeUndefined()
    expect(store.messages.getPart('prt_x')).toBeUndefined()
  })

  it('replaces a part in its place and appends a new one', () => {
    const store = conversation(question)
    const changed = text('prt_2', 'msg_1', 'changed')
    const added = text('prt_0', 'msg_1')
    store.transact('process', () => {
      store.messages.putPart(changed)
      store.messages.putPart(added)
    })
    expect(store.messages.get('msg_1')?.parts).toEqual([changed, question.parts[1], added])
  })

  it('refuses a part without its message and a part of another message', () => {
    const store = conversation(question, answer)
    const put = (part: Part) => () => store.transact('process', () => store.messages.putPart(part))
    expect(put(text('prt_9', 'msg_x'))).toThrow('Message msg_x does not exist.')
    expect(put(text('prt_1', 'msg_2'))).toThrow('Part prt_1 belongs to another message than msg_2.')
    expect(store.messages.all('ses_1')).toEqual([question, answer])
  })

  it('refuses a message one of whose first parts belongs to another, and keeps their order where none does', () => {
    const store = conversation(question)
    const parts = (...ids: string[]) => ids.map((id) => text(id, 'msg_2'))
    expect(() => store.transact('process', () => store.messages.append(assistant('msg_2'), parts('prt_8', 'prt_1')))).toThrow(
      'another message',
    )
    expect(store.messages.all('ses_1')).toEqual([question])
    store.transact('process', () => store.messages.append(assistant('msg_2'), parts('prt_9', 'prt_8', 'prt_7')))
    store.transact('process', () => store.messages.putPart(text('prt_6', 'msg_2')))
    expect(store.messages.get('msg_2')?.parts.map(({ id }) => id)).toEqual(['prt_9', 'prt_8', 'prt_7', 'prt_6'])
  })

  it('removes parts and messages and still appends behind what is left', () => {
    const store = conversation(question, answer, empty)
    store.transact('process', () => {
      store.messages.removePart('prt_2')
      store.messages.remove('msg_2')
      store.messages.append(user('msg_3'), [])
      store.messages.putPart(text('prt_8', 'msg_1'))
    })
    expect(store.messages.all('ses_1')).toEqual([
      { info: question.info, parts: [question.parts[1], text('prt_8', 'msg_1')] },
      empty,
      { info: user('msg_3'), parts: [] },
    ])
    expect(store.messages.getPart('prt_3')).toBeUndefined()
    store.transact('process', () => store.messages.removeParts('msg_1'))
    expect(store.messages.get('msg_1')).toEqual({ info: question.info, parts: [] })
  })

  it('names assistant messages until they are completed', () => {
    const store = conversation(question, answer, empty)
    expect(store.messages.unfinished()).toEqual([{ id: 'msg_0', sessionId: 'ses_1' }])
    store.transact('process', () => store.messages.updateInfo(assistant('msg_0', 9)))
    expect(store.messages.unfinished()).toEqual([])
    expect(store.messages.getInfo('msg_0')).toEqual(assistant('msg_0', 9))
  })

  it('refuses to update a message that does not exist', () => {
    const store = conversation()
    expect(() => store.transact('process', () => store.messages.updateInfo(user('msg_x')))).toThrow('Message msg_x does not exist.')
  })
})
