// Holds sessions-events §14.
import { expect, it } from 'vitest'
import type { ToolPart } from '../../src/protocol/message/message.js'
import type { ShownFile } from '../../src/store/contents.js'
import type { Store } from '../../src/store/store.js'
import { assistant, memoryStore, session } from './records.js'

const ID = '0123456789abcdef0123456789abcdef'
const ADDRESS = 'data:image/png;base64,'

function opened(): Store {
  const store = memoryStore()
  store.transact('power', () => {
    store.sessions.insert(session('ses_1'))
    store.messages.append(assistant('msg_1', 5), [])
  })
  return store
}

/** A file whose content is stored for the session, in two pieces. */
function kept(store: Store, content: string, id = ID): ShownFile & { type: 'file' } {
  const file = { type: 'file' as const, mime: 'image/png', url: `${ADDRESS}${content}` }
  store.transact('process', () => {
    store.contents.begin(id, 'ses_1', `digest of ${content}`)
    store.contents.append(id, 0, content.slice(0, 2))
    store.contents.append(id, 1, content.slice(2))
    store.contents.refer(file, store.contents.finish(id, 'ses_1', `digest of ${content}`), 'ses_1', content.length)
  })
  return file
}

function shows(...attachments: readonly object[]): ToolPart {
  const state = {
    status: 'completed' as const,
    input: {},
    title: 'a',
    output: `not this: svc:content:${'f'.repeat(32)};`,
    metadata: { attachments },
    time: { start: 1, end: 2 },
  }
  return { id: 'prt_1', sessionId: 'ses_1', messageId: 'msg_1', type: 'tool', tool: 'read', callId: 'c', state }
}

function eventOf(json: string) {
  return { sequence: 1, type: 'x', sessionId: 'ses_1', json, created: 1 }
}

it('is stored once, and filled in wherever a part is read', () => {
  const store = opened()
  const part = shows(kept(store, 'AAAABBBB'), { type: 'file', mime: 'image/png', url: `${ADDRESS}small` })
  const stored = store.transact('process', () => store.messages.putPart(part))
  expect(stored.json).not.toContain('AAAABBBB')
  expect(JSON.parse(stored.whole?.() ?? '')).toEqual(part)
  expect(store.messages.getPart('prt_1')).toEqual(part)
  expect(store.messages.all('ses_1')[0]?.parts).toEqual([part])
  const [sliced] = store.messages.slice({ sessionId: 'ses_1', order: 'asc', characters: 1 }).items
  expect(JSON.parse(sliced?.json ?? '')).toMatchObject({ parts: [part] })
  expect(JSON.parse(store.messages.page({ sessionId: 'ses_1', order: 'asc' }).items[0] ?? '')).toMatchObject({ parts: [part] })
  store.transact('process', () => store.events.insert(eventOf(stored.json)))
  expect(JSON.parse(store.events.after(0, 9)[0]?.json ?? '')).toEqual(part)
  expect(JSON.parse(store.events.afterFor(0, 9, ['ses_1'])[0]?.json ?? '')).toEqual(part)
})

it('stays apart when what was read is stored again', () => {
  const store = opened()
  store.transact('process', () => store.messages.putPart(shows(kept(store, 'AAAABBBB'))))
  const again = store.messages.getPart('prt_1')
  const stored = store.transact('process', () => store.messages.putPart(again ?? shows()))
  expect(stored.json).not.toContain('AAAABBBB')
  expect(store.messages.getPart('prt_1')).toEqual(again)
})

it('is found by its digest, and the second of two that are written at once gives way', () => {
  const store = opened()
  kept(store, 'AAAABBBB')
  expect(store.contents.find('ses_1', 'digest of AAAABBBB')).toBe(ID)
  const other = 'f'.repeat(32)
  const second = kept(store, 'AAAABBBB', other)
  store.transact('process', () => store.messages.putPart(shows(second)))
  expect(store.messages.getPart('prt_1')).toEqual(shows({ type: 'file', mime: 'image/png', url: `${ADDRESS}AAAABBBB` }))
  store.transact('process', () => store.contents.begin(other, 'ses_1', 'free again'))
})

it('goes with the last part that shows it, not while a call is about to', () => {
  const store = opened()
  const part = shows(kept(store, 'AAAABBBB'))
  const sweep = () => store.transact('process', () => store.messages.sweepContents('ses_1'))
  sweep()
  store.transact('process', () => store.messages.putPart(part))
  sweep()
  expect(store.messages.getPart('prt_1')).toEqual(part)
  store.transact('process', () => store.messages.removePart('prt_1'))
  sweep()
  expect(store.contents.find('ses_1', 'digest of AAAABBBB')).toBeUndefined()
})

it('stays with a copy in another session when its own is deleted', () => {
  const store = opened()
  store.transact('process', () => {
    store.messages.putPart(shows(kept(store, 'AAAABBBB')))
    store.sessions.insert(session('ses_2'))
    store.messages.append(assistant('msg_2', 5, 'ses_2'), [])
  })
  const copy = { ...(store.messages.getPart('prt_1') ?? shows()), id: 'prt_2', messageId: 'msg_2', sessionId: 'ses_2' }
  store.transact('process', () => {
    store.messages.putPart(copy)
    store.sessions.delete('ses_1')
  })
  expect(store.messages.getPart('prt_2')).toEqual(copy)
})

it('is nothing that text could name', () => {
  const store = opened()
  kept(store, 'AAAABBBB')
  const named = shows({ type: 'file', mime: 'text/plain', url: `svc:content:${'e'.repeat(32)};` })
  store.transact('process', () => store.messages.putPart(named))
  expect(JSON.stringify(store.messages.getPart('prt_1'))).not.toContain('AAAABBBB')
})

it('of a waiting prompt stays while that waits, counts among its bytes, and is filled in when it is read', () => {
  const store = opened()
  const shown = kept(store, 'AAAABBBB')
  const file = { ...shown, filename: 'a.png' }
  store.contents.follow(file, shown)
  const request = { messageId: 'msg_2', parts: [{ type: 'text' as const, text: 'look' }, file], noReply: false }
  const row = { id: 'q_1', sessionId: 'ses_1', delivery: 'queue' as const, request, created: 1 }
  store.transact('process', () => store.queue.append(row))
  store.contents.release([file])
  const sweep = () => store.transact('process', () => store.messages.sweepContents('ses_1'))
  sweep()
  expect(store.contents.writtenPrompt('ses_1', request).json).not.toContain('AAAABBBB')
  expect(store.queue.bytes('ses_1')).toBe(JSON.stringify(request).length)
  expect(store.queue.oldest('ses_1')).toBe('q_1')
  for (const found of [store.queue.get('q_1'), store.queue.first('ses_1'), store.queue.byMessageId('msg_2')])
    expect(found).toEqual({ ...row, held: false })

  const [, read] = store.queue.get('q_1')?.request.parts ?? []
  const part = { ...file, id: 'prt_2', sessionId: 'ses_1', messageId: 'msg_1' }
  store.contents.follow(part, read ?? {})
  const stored = store.transact('process', () => store.messages.putPart(part))
  expect(stored.json).not.toContain('AAAABBBB')
  store.transact('process', () => store.queue.remove('q_1'))
  sweep()
  expect(store.messages.getPart('prt_2')).toEqual(part)
  store.transact('process', () => store.messages.removePart('prt_2'))
  sweep()
  expect(store.contents.find('ses_1', 'digest of AAAABBBB')).toBeUndefined()
})
