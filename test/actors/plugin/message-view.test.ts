// Holds threat-model K2.
import { describe, expect, test } from 'vitest'
import { messageView, redactor } from '../../../src/actors/plugin/brokers/message-view.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'

const redact = redactor({ OPENAI_API_KEY: 'sk-very-secret-value', HOME: '/home/somebody', SHORT_TOKEN: 'abc' })
const INFO: Message['info'] = {
  role: 'user',
  id: 'msg_1',
  sessionId: 'ses_1',
  time: { created: 1 },
  agent: 'build',
  model: { providerId: 'svc', modelId: 'offline' },
}
const place = { sessionId: 'ses_1', messageId: 'msg_1' }
const view = (parts: readonly Part[], most = 1000) => messageView({ info: INFO, parts: [...parts] }, { redact, most })

describe('a text', () => {
  test.each([
    ['the key sk-very-secret-value is set', 'the key [redacted] is set'],
    ['curl -H "Authorization: Bearer abcdefghijklmnop1234"', 'curl -H "Authorization: Bearer [redacted]"'],
    ['https://ada:pass@example.com/x', 'https://example.com/x'],
    ['export GITHUB_TOKEN=ghp_0123456789', 'export GITHUB_TOKEN=[redacted]'],
    ['password: "correct horse"', 'password: [redacted]'],
    ['{"apiKey":"0123456789","a":1}', '{"apiKey":[redacted],"a":1}'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['abc and /home/somebody stay', 'abc and /home/somebody stay'],
    ['tokens = 500000', 'tokens = 500000'],
  ])('%j is told as %j', (text, told) => {
    expect(redact(text)).toBe(told)
  })
})

describe('a message', () => {
  test('has no bytes of files, nothing of its provider, and no states of files', () => {
    const { parts } = view([
      { id: 'p1', ...place, type: 'text', text: 'hi', metadata: { passages: [1] } },
      { id: 'p2', ...place, type: 'reasoning', text: 'hm', time: { start: 1 }, metadata: { signature: 's' } },
      { id: 'p3', ...place, type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' },
      {
        id: 'p4',
        ...place,
        type: 'tool',
        tool: 'edit',
        callId: 'c',
        metadata: { provider: { call: 1 }, plugin: 'x' },
        state: {
          status: 'completed',
          input: { path: 'a', apiKey: 'k', headers: { a: 'b' } },
          output: 'done',
          title: 'Edit',
          metadata: { snapshots: [{ path: 'a' }], diff: '+a' },
          time: { start: 1, end: 2 },
        },
      },
    ])
    expect(parts).toEqual([
      { id: 'p1', ...place, type: 'text', text: 'hi' },
      { id: 'p2', ...place, type: 'reasoning', text: 'hm', time: { start: 1 } },
      { id: 'p3', ...place, type: 'file', mime: 'image/png', url: 'data:image/png;base64,…', filename: 'a.png' },
      {
        id: 'p4',
        ...place,
        type: 'tool',
        tool: 'edit',
        callId: 'c',
        metadata: { plugin: 'x' },
        state: {
          status: 'completed',
          input: { path: 'a' },
          output: 'done',
          title: 'Edit',
          metadata: { diff: '+a' },
          time: { start: 1, end: 2 },
        },
      },
    ])
  })

  test('says that a text of it was cut', () => {
    const long = view([{ id: 'p1', ...place, type: 'text', text: 'x'.repeat(50) }], 10)
    expect([long.cut, long.parts[0]?.['text']]).toEqual([true, `${'x'.repeat(10)}…`])
    expect(view([{ id: 'p1', ...place, type: 'text', text: 'x' }]).cut).toBe(false)
  })
})
