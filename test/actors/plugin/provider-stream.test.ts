// Holds plugin-protocol §7.1.
import { describe, expect, test } from 'vitest'
import { createStreamReader } from '../../../src/actors/plugin/process/provider-stream.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'

function read(items: readonly unknown[]) {
  const parts: StreamPart[] = []
  const reader = createStreamReader('p', (part) => parts.push(part))
  let error: unknown
  try {
    for (const item of items) reader.take(item)
    reader.end()
  } catch (thrown) {
    error = thrown
  }
  return { parts, error }
}
const zero = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }

describe('the stream of a process provider', () => {
  test('becomes text, reasoning, calls and one finish', () => {
    const { parts, error } = read([
      { type: 'start' },
      { type: 'start-step' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      { type: 'reasoning-metadata', id: 'r', metadata: { encryptedContent: 'e' } },
      { type: 'reasoning-end', id: 'r' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'hi', extra: 1 },
      { type: 'text-end', id: 't' },
      { type: 'tool-input-start', id: 'c', name: 'read' },
      { type: 'tool-input-delta', id: 'c', delta: '{}' },
      { type: 'tool-input-end', id: 'c' },
      { type: 'tool-call', id: 'c', name: 'read', input: { a: 1 } },
      { type: 'finish-step', finish: 'tool_calls', inputTokens: 3, outputTokens: 2 },
      { type: 'finish', finish: null, inputTokens: 7, outputTokens: 3, reasoningTokens: 1, cacheReadTokens: 4, totalTokens: 10 },
      { type: 'text-delta', id: 't', delta: 'late' },
    ])
    expect(error).toBeUndefined()
    expect(parts).toEqual([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning', id: 'r', delta: 'hm' },
      { type: 'reasoning-end', id: 'r', metadata: { encryptedContent: 'e' } },
      { type: 'text', delta: 'hi' },
      { type: 'tool-input-start', callId: 'c', tool: 'read' },
      { type: 'tool-input', callId: 'c', delta: '{}' },
      { type: 'tool-call', callId: 'c', tool: 'read', input: '{"a":1}' },
      { type: 'finish', reason: 'tool-calls', usage: { input: 3, output: 2, reasoning: 1, cache: { read: 4, write: 0 }, total: 10 } },
    ])
  })

  test('shows what the model made, and takes nothing else for that', () => {
    const file = { type: 'file', mime: 'image/png', filename: 'cat.png', dataBase64: 'aGk=' }
    expect(read([file, { ...file, filename: null }]).parts).toEqual([
      { type: 'file', file: { mime: 'image/png', url: 'data:image/png;base64,aGk=', filename: 'cat.png' } },
      { type: 'file', file: { mime: 'image/png', url: 'data:image/png;base64,aGk=' } },
    ])
    for (const wrong of [{ mime: 'text/html' }, { mime: 'image/png;base64,' }, { dataBase64: 'no base64' }])
      expect(read([{ ...file, ...wrong }]).error).toMatchObject({ message: expect.stringContaining('no stream event') as string })
  })

  test('hands calls after its end on after the finish, where they are refused', () => {
    const call = (id: string) => ({ type: 'tool-call', id, name: 'read', input: {} })
    const part = (callId: string) => ({ type: 'tool-call', callId, tool: 'read', input: '{}' })
    const end = { finish: 'stop', inputTokens: 1, outputTokens: 1 }
    const finish = { type: 'finish', reason: 'stop', usage: { ...zero, input: 1, output: 1 } }
    expect(read([{ type: 'finish', ...end }, call('a'), 'garbage']).parts).toEqual([finish, part('a')])
    expect(read([{ type: 'finish-step', ...end }, call('a'), { type: 'finish', ...end }]).parts).toEqual([finish, part('a')])
    const steps = [{ type: 'finish-step', ...end }, { type: 'start-step' }, call('a'), { type: 'finish', ...end }]
    expect(read(steps).parts).toEqual([part('a'), finish])
  })

  test('takes usage in snake_case', () => {
    const { parts } = read([
      {
        type: 'finish',
        finish: 'max_tokens',
        total_tokens: 7,
        input_tokens: 3,
        output_tokens: 4,
        reasoning_tokens: null,
        cache_write_tokens: 1,
      },
    ])
    expect(parts).toEqual([
      { type: 'finish', reason: 'length', usage: { ...zero, input: 2, output: 4, cache: { read: 0, write: 1 }, total: 7 } },
    ])
  })

  test('may end after a finished step alone, and closes reasoning left open', () => {
    const { parts } = read([
      { type: 'reasoning-delta', id: 'r', delta: 'x' },
      { type: 'finish-step', finish: 'stop', inputTokens: 1, outputTokens: 1 },
    ])
    expect(parts).toEqual([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning', id: 'r', delta: 'x' },
      { type: 'reasoning-end', id: 'r' },
      { type: 'finish', reason: 'stop', usage: { ...zero, input: 1, output: 1 } },
    ])
  })

  test.each<[string, unknown[], object]>([
    ['an error event', [{ type: 'error', message: 'quota' }], { message: 'Provider "p" failed: quota', retryable: false }],
    ['an unknown event', [{ type: 'surprise' }], { message: 'Provider "p" sent something that is no stream event.' }],
    ['no event at all', ['text'], { message: 'Provider "p" sent something that is no stream event.' }],
    ['an end without a finish', [{ type: 'text-delta', id: 't', delta: 'x' }], { retryable: true }],
  ])('fails on %s', (_title, items, error) => {
    expect(read(items).error).toMatchObject({ name: 'ProviderError', ...error })
  })
})
