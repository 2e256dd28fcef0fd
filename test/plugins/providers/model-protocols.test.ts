import { describe, expect, it } from 'vitest'
import { bytes, reply, stay } from '../../fixtures/model-server.js'
import { content } from '../../fixtures/vendors/content.js'
import { messages } from '../../fixtures/vendors/messages.js'
import { responses } from '../../fixtures/vendors/responses.js'
import type { Vendor } from '../../fixtures/vendors/turn.js'
import { playVendor } from './model-protocols-setup.js'

const VENDORS = [responses, messages, content]
const TURN = {
  thought: { text: 'hm', proof: 'P1' },
  text: ['a', 'b'],
  calls: [
    { id: 'c1', name: 'read', input: { x: 1 } },
    { id: 'c2', name: 'grep', input: { y: 2 } },
  ],
  cached: 40,
}

/** What was said of the thought, the text and the first call, as the vendor's SDK puts it. */
const SAID: Readonly<Record<string, readonly unknown[]>> = {
  responses: [
    { openai: { itemId: 'rs_P1', reasoningEncryptedContent: 'P1' } },
    { openai: { itemId: 'msg_1' } },
    { openai: { itemId: 'fc_c1' } },
  ],
  messages: [{ anthropic: { signature: 'P1' } }, undefined, undefined],
  content: [undefined, undefined, { google: { thoughtSignature: 'P1' } }],
}

describe.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))('an answer of %s', (name, vendor) => {
  it('becomes parts in the order of its events, with what was said of them and the whole usage', async () => {
    const { parts, error } = await playVendor(vendor, vendor.reply(TURN))
    expect(error).toBeUndefined()
    const [thought, text, call] = SAID[name] ?? []
    expect(parts.filter(({ type }) => type === 'reasoning-start' || type === 'text-start').map(({ type }) => type)).toEqual([
      ...(name === 'messages' ? ['reasoning-start'] : []),
      'reasoning-start',
      'text-start',
    ])
    expect(parts.find(({ type }) => type === 'reasoning')).toMatchObject({ delta: 'hm' })
    expect(parts.find(({ type }) => type === 'text')).toEqual({ type: 'text', delta: 'ab' })
    expect(parts.flatMap((part) => (part.type === 'reasoning-end' ? [part.metadata] : []))).toEqual([
      thought,
      ...(name === 'messages' ? [{ anthropic: { redactedData: 'redacted-P1' } }] : []),
    ])
    expect(parts.flatMap((part) => (part.type === 'text-end' ? [part.metadata] : []))).toEqual([text])
    expect(parts.filter((part) => part.type === 'tool-call')).toMatchObject([
      { callId: 'c1', tool: 'read', input: '{"x":1}', ...(call === undefined ? {} : { metadata: call }) },
      { callId: 'c2', tool: 'grep', input: '{"y":2}' },
    ])
    const isSplit = name !== 'messages'
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'tool-calls',
      usage: {
        input: 60,
        output: isSplit ? 20 : 30,
        reasoning: isSplit ? 10 : 0,
        cache: { read: 40, write: 0 },
        ...(isSplit ? { total: 130 } : {}),
      },
    })
  })

  it('that is a refusal ends as one, with what was said', async () => {
    const { parts, error } = await playVendor(vendor, vendor.reply({ text: ['no'], stop: 'refusal' }))
    expect(error).toBeUndefined()
    expect(parts.filter(({ type }) => type === 'text' || type === 'finish')).toMatchObject([
      { delta: 'no' },
      { type: 'finish', reason: 'content-filter' },
    ])
  })

  it('that was cut off by its limit says so', async () => {
    const { parts } = await playVendor(vendor, vendor.reply({ text: ['half'], stop: 'length' }))
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  })

  it('that ends without its end, breaks or is garbage may be asked for again', async () => {
    const whole = vendor.reply({ text: ['half a'] }).steps ?? []
    for (const answer of [
      reply(whole.slice(0, vendor === content ? -1 : -2)),
      vendor.reply({ text: ['half a'], isCut: true }),
      reply(whole.slice(0, -1), bytes('data: {"a\n\n')),
    ]) {
      const { parts, error } = await playVendor(vendor, answer)
      expect(error).toMatchObject({ retryable: true })
      expect(parts.some(({ type }) => type === 'finish')).toBe(false)
    }
  })

  it('is over with its last event, though the connection stays', async () => {
    const { steps = [] } = vendor.reply({ text: ['whole'] })
    const { parts, error } = await playVendor(vendor, reply(steps, stay))
    expect([parts.at(-1)?.type, error]).toEqual(['finish', undefined])
  })

  it.each([
    ['overload', { retryable: true, overflow: false, retryAfterMs: 7000 }],
    ['rate', { retryable: true, overflow: false, retryAfterMs: 7000 }],
    ['auth', { retryable: false, overflow: false }],
    ['overflow', { retryable: false, overflow: true }],
  ] as const)('that is %s is told apart', async (kind, expected) => {
    const { error } = await playVendor(vendor, vendor.fault(kind, { 'retry-after': '7' }))
    expect(error).toMatchObject(expected)
    expect(error?.message).not.toContain('sk-secret')
  })

  it('is asked for with the key alone, where the vendor looks for it', async () => {
    const { server } = await playVendor(vendor, vendor.reply({ text: ['hi'] }))
    const [request] = server.requests
    expect(request?.path).toBe(vendor.path)
    const given = ['authorization', 'x-api-key', 'x-goog-api-key'].map((header) => request?.headers[header])
    expect(given.filter((value) => value !== undefined)).toEqual([name === 'responses' ? 'Bearer sk-secret' : 'sk-secret'])
    expect(request?.headers['user-agent']).toBe('svc')
  })

  it('is asked for with a token of OAuth as one, and never as a key', async () => {
    const headers = { 'anthropic-beta': 'mine-2025-01-01' }
    for (const more of [{}, { headers }]) {
      const { server } = await playVendor(vendor, vendor.reply({ text: ['hi'] }), { hasToken: true, ...more })
      const [request] = server.requests
      const given = ['authorization', 'x-api-key', 'x-goog-api-key'].map((header) => request?.headers[header])
      expect(given).toEqual(['Bearer sk-secret', undefined, undefined])
      const betas = String(request?.headers['anthropic-beta'] ?? '').split(',')
      expect(betas.includes('oauth-2025-04-20')).toBe(name === 'messages')
      expect(betas.includes('mine-2025-01-01')).toBe('headers' in more)
    }
    const plain = await playVendor(vendor, vendor.reply({ text: ['hi'] }), { headers })
    expect(plain.server.requests[0]?.headers['anthropic-beta']).not.toContain('oauth')
  })

  it('is asked for with options the SDK has no name for, and none that would replace the structure', async () => {
    const { body } = await playVendor(vendor, vendor.reply({ text: ['hi'] }), {
      request: { options: { brand_new: 1, model: 'other', messages: [], input: [], contents: [], stream: false } },
    })
    const plain = await playVendor(vendor, vendor.reply({ text: ['hi'] }))
    expect(body).toEqual({ ...plain.body, brand_new: 1 })
  })
})

describe('errors inside a stream', () => {
  const begun = (vendor: Vendor) => (vendor.reply({ text: ['half'] }).steps ?? []).slice(0, -2)
  it.each([
    [responses, { type: 'error', code: 'server_error', message: 'Overloaded', param: null, sequence_number: 9 }, true],
    [responses, { type: 'response.failed', response: { error: { code: 'invalid_prompt', message: 'invalid prompt' } } }, false],
    [messages, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, true],
    [messages, { type: 'error', error: { type: 'invalid_request_error', message: 'invalid' } }, false],
    [content, { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }, true],
    [content, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'invalid' } }, false],
  ] as const)('are told by what they are: %#', async (vendor, data, retryable) => {
    const { error } = await playVendor(vendor, reply(begun(vendor), bytes(`data: ${JSON.stringify(data)}\n\n`)))
    expect(error).toMatchObject({ retryable })
    expect(error?.message).toContain('failed while streaming')
  })

  it('a prompt that is blocked ends as a refusal', async () => {
    const data = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } }
    const { parts, error } = await playVendor(content, reply(bytes(`data: ${JSON.stringify(data)}\n\n`)))
    expect([parts.at(-1), error]).toMatchObject([{ type: 'finish', reason: 'content-filter', usage: { input: 5, total: 5 } }, undefined])
  })

  it('waits as long as the vendor asks inside its answer', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3.5s' }]
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'quota', details } }
    expect((await playVendor(content, { status: 429, body })).error).toMatchObject({ retryable: true, retryAfterMs: 3500 })
  })
})
