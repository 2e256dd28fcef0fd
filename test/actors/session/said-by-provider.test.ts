// Holds sessions-events §3.5, §4.2.
import { describe, expect, it } from 'vitest'
import { modelMessages } from '../../../src/actors/session/history/request.js'
import { createPassages, passagesOf } from '../../../src/actors/session/history/said-by-provider.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'

const place = { sessionId: 'ses_1', messageId: 'msg_1' }
const time = { start: 1, end: 2 }
const REF = { providerId: 'local', id: 'thinker' }

function answer(...parts: readonly object[]): Message {
  const info = {
    role: 'assistant',
    id: 'msg_1',
    sessionId: 'ses_1',
    time: { created: 1, completed: 2 },
    parentId: 'msg_0',
    mode: 'primary',
    agent: 'build',
    path: { cwd: '/', root: '/' },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    modelId: REF.id,
    providerId: REF.providerId,
  }
  return { info, parts: parts.map((part, index) => ({ ...place, id: `prt_${index}`, ...part }) as Part) } as Message
}

const thought = (text: string, metadata?: object) => ({ type: 'reasoning', text, time, ...(metadata && { metadata }) })
const call = (callId: string, output: string, metadata?: object) => ({
  type: 'tool',
  tool: 'search',
  callId,
  state: { status: 'completed', input: { q: 1 }, output, metadata: {}, title: 'search', time },
  ...(metadata && { metadata }),
})

describe('passages of a text', () => {
  it('are not kept when the text is one before all others, and nothing was said of it', () => {
    const passages = createPassages()
    passages.start('a', 0, 0)
    passages.end('a', undefined)
    expect(passages.kept(5)).toBeUndefined()
  })

  it('are kept with their places and with what was said; those without text are not', () => {
    const passages = createPassages()
    passages.start('a', 1, 0)
    passages.start('b', 2, 3)
    passages.start('c', 2, 3)
    passages.end('c', { vendor: { id: 'c' } })
    expect(passages.kept(6)).toEqual([
      { at: 1, from: 0 },
      { at: 2, from: 3, metadata: { vendor: { id: 'c' } } },
    ])
  })

  it('give the whole text, whatever was made of it since', () => {
    const part = {
      ...place,
      id: 'prt_1',
      type: 'text' as const,
      text: 'ab',
      metadata: {
        passages: [
          { at: 1, from: 0 },
          { at: 2, from: 9 },
        ],
      },
    }
    expect(passagesOf(part).map(({ text }) => text)).toEqual(['ab', ''])
    expect(passagesOf({ ...part, metadata: { passages: 'x' } })).toEqual([{ at: 0, from: 0, text: 'ab' }])
  })
})

describe('what a provider said of its answer', () => {
  const message = answer(
    { type: 'step-start' },
    {
      type: 'text',
      text: 'onetwo',
      metadata: {
        passages: [
          { at: 1, from: 0, metadata: { v: { id: 't1' } } },
          { at: 3, from: 3 },
        ],
      },
    },
    thought('', { v: { signature: 's' } }),
    call('c1', 'mine', { provider: { call: { v: { signature: 'c' } } } }),
    call('c2', '{"found":1}', { provider: { call: { v: { id: 'c2' } }, executed: true, result: { v: { id: 'r2' } } } }),
  )

  it('goes back to the model that said it, in the order of the answer', () => {
    expect(modelMessages([message], REF)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', metadata: { v: { signature: 's' } } },
          { type: 'text', text: 'one', metadata: { v: { id: 't1' } } },
          { type: 'tool-call', callId: 'c1', tool: 'search', input: { q: 1 }, metadata: { v: { signature: 'c' } } },
          { type: 'tool-call', callId: 'c2', tool: 'search', input: { q: 1 }, metadata: { v: { id: 'c2' } }, executed: true },
          { type: 'tool-result', callId: 'c2', tool: 'search', output: { found: 1 }, isError: false, metadata: { v: { id: 'r2' } } },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'tool', results: [{ callId: 'c1', tool: 'search', output: 'mine', isError: false }] },
    ])
  })

  it('goes to no other model, nor do calls that the provider made itself', () => {
    expect(modelMessages([message], { providerId: 'local', id: 'other' })[0]).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'one' },
        { type: 'tool-call', callId: 'c1', tool: 'search', input: { q: 1 } },
        { type: 'text', text: 'two' },
      ],
    })
  })
})
