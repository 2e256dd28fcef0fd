import { describe, expect, it } from 'vitest'
import { bytes, finish, finishReason, reasoning, reply, streamError, text, toolCall } from '../../../fixtures/model-server.js'
import { joined, play } from './setup.js'

const usage = { input: 100, output: 20, reasoning: 0, cache: { read: 0, write: 0 }, total: 120 }

describe('the stream of a chat completion', () => {
  it('becomes text parts and a finish with usage', async () => {
    const { parts, error } = await play(reply(text('Hel', 'lo', ''), finish('stop')))
    expect(error).toBeUndefined()
    expect(joined(parts)).toEqual([
      { type: 'text', delta: 'Hello' },
      { type: 'finish', reason: 'stop', usage },
    ])
  })

  it('ends a reasoning block when text begins and opens another one later', async () => {
    const { parts } = await play(reply(reasoning('a', 'b'), text('x'), reasoning('c'), finish('stop')))
    expect(joined(parts).slice(0, -1)).toEqual([
      { type: 'reasoning-start', id: 'reasoning-0' },
      { type: 'reasoning', id: 'reasoning-0', delta: 'ab' },
      { type: 'reasoning-end', id: 'reasoning-0' },
      { type: 'text', delta: 'x' },
      { type: 'reasoning-start', id: 'reasoning-1' },
      { type: 'reasoning', id: 'reasoning-1', delta: 'c' },
      { type: 'reasoning-end', id: 'reasoning-1' },
    ])
  })

  it('hands a tool call on when the next one begins', async () => {
    const { parts } = await play(
      reply(
        toolCall({ id: 'a', name: 'read', input: '{"x":1}', pieces: 2 }),
        toolCall({ id: 'b', name: 'grep', input: '', index: 1 }),
        finish('tool_calls'),
      ),
    )
    expect(parts).toEqual([
      { type: 'tool-input-start', callId: 'a', tool: 'read' },
      { type: 'tool-input', callId: 'a', delta: '{"x"' },
      { type: 'tool-input', callId: 'a', delta: ':1}' },
      { type: 'tool-call', callId: 'a', tool: 'read', input: '{"x":1}' },
      { type: 'tool-input-start', callId: 'b', tool: 'grep' },
      { type: 'tool-call', callId: 'b', tool: 'grep', input: '{}' },
      { type: 'finish', reason: 'tool-calls', usage },
    ])
  })

  it('keeps no more of arguments than one piece beyond what a call may have, and no more calls than one beyond a step', async () => {
    const { parts } = await play(
      reply(toolCall({ id: 'a', name: 'write', input: 'x'.repeat(2_000_000), pieces: 20 }), finish('tool_calls')),
    )
    expect(parts.find((part) => part.type === 'tool-call')).toMatchObject({ input: 'x'.repeat(600_000) })
    const many = Array.from({ length: 300 }, (_, index) => toolCall({ id: `c${index}`, name: 'read', input: {}, index }))
    const called = (await play(reply(...many, finish('tool_calls')))).parts.filter((part) => part.type === 'tool-call')
    expect(called.map(({ callId }) => callId)).toEqual(Array.from({ length: 65 }, (_, index) => `c${index}`))
  })

  it('counts only the first of two calls with the same id', async () => {
    const { parts } = await play(
      reply(
        toolCall({ id: 'a', name: 'read', input: { path: 'one' } }),
        toolCall({ id: 'a', name: 'bash', input: { command: 'rm' }, index: 1 }),
        finish('tool_calls'),
      ),
    )
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([
      { type: 'tool-call', callId: 'a', tool: 'read', input: '{"path":"one"}' },
    ])
    expect(parts.filter((part) => part.type === 'tool-input-start')).toHaveLength(1)
  })

  it('tells apart calls that share an index and calls that have none', async () => {
    const whole = (id: string, index?: number) =>
      bytes(
        `data: {"choices":[{"delta":{"tool_calls":[{${index === undefined ? '' : `"index":${index},`}"id":"${id}","function":{"name":"read","arguments":"{}"}}]}}]}\n\n`,
      )
    for (const steps of [
      [whole('a', 0), whole('b', 0)],
      [whole('a'), whole('b')],
    ]) {
      const { parts } = await play(reply(steps, finish('tool_calls')))
      expect(parts.filter((part) => part.type === 'tool-call').map((part) => part.callId)).toEqual(['a', 'b'])
    }
  })

  it('reports tool calls as the reason when the provider says "stop" after them', async () => {
    const { parts } = await play(reply(toolCall({ id: 'a', name: 'read', input: {} }), finish('stop')))
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' })
  })

  it('hands arguments that are not JSON on as they are once the provider has finished', async () => {
    const { parts, error } = await play(
      reply(toolCall({ id: 'a', name: 'bash', input: '{"command":"rm -rf /tmp/x' }), finish('tool_calls')),
    )
    expect(error).toBeUndefined()
    expect(parts.slice(-2)).toEqual([
      { type: 'tool-call', callId: 'a', tool: 'bash', input: '{"command":"rm -rf /tmp/x' },
      { type: 'finish', reason: 'tool-calls', usage },
    ])
  })

  it('hands a call that comes after the finish reason on after the end, where it is refused', async () => {
    const { parts } = await play(
      reply(
        toolCall({ id: 'a', name: 'read', input: {} }),
        finishReason('stop'),
        toolCall({ id: 'b', name: 'bash', input: { command: 'rm' }, index: 1 }),
        finish('stop').slice(1),
      ),
    )
    expect(parts.filter(({ type }) => type === 'tool-call' || type === 'finish')).toEqual([
      { type: 'tool-call', callId: 'a', tool: 'read', input: '{}' },
      { type: 'finish', reason: 'tool-calls', usage },
      { type: 'tool-call', callId: 'b', tool: 'bash', input: '{"command":"rm"}' },
    ])
  })

  it('does not count arguments that come after the finish reason', async () => {
    const [head, ...more] = toolCall({ id: 'a', name: 'bash', input: '{"command":"rm -rf /tmp/x"}', pieces: 2 })
    const { parts } = await play(
      reply(head ?? [], more.slice(0, 1), finishReason('tool_calls'), more.slice(1), finish('tool_calls').slice(1)),
    )
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([
      { type: 'tool-call', callId: 'a', tool: 'bash', input: '{"command":"rm' },
    ])
  })

  it('counts a call that comes in one chunk with the finish reason', async () => {
    const whole = '{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}'
    const { parts } = await play(
      reply(
        bytes(`data: {"choices":[{"delta":{"tool_calls":[${whole}]},"finish_reason":"tool_calls"}]}\n\n`),
        finish('tool_calls').slice(1),
      ),
    )
    expect(parts.map(({ type }) => type)).toEqual(['tool-input-start', 'tool-input', 'tool-call', 'finish'])
  })

  it('hands nothing on of a call whose arguments were cut by the end of the connection', async () => {
    const { parts, error } = await play(reply(toolCall({ id: 'a', name: 'bash', input: '{"command":"ls"}' })))
    expect(parts.some((part) => part.type === 'tool-call')).toBe(false)
    expect(error).toMatchObject({ retryable: true, message: 'Provider "local" ended the stream without a finish reason.' })
  })

  it.each([
    ['ends without a finish reason', reply(text('a')), 'ended the stream without a finish reason.'],
    ['ends with the end marker alone', reply(text('a'), bytes('data: [DONE]\n\n')), 'ended the stream without a finish reason.'],
    ['is not JSON', reply(text('a'), bytes('data: {"choi\n\n')), 'sent data that is not a JSON object.'],
    ['is a page', { body: '<html>hello</html>' }, 'ended the stream without a finish reason.'],
    ['reports an error as its reason', reply(text('a'), finishReason('error')), 'ended the stream with an error.'],
  ])('is a failure worth another try when it %s', async (_, answer, message) => {
    const { parts, error } = await play(answer)
    expect(parts.some((part) => part.type === 'finish')).toBe(false)
    expect(error).toMatchObject({ retryable: true, overflow: false, message: `Provider "local" ${message}` })
  })

  it.each([
    ['Overloaded, try later', undefined, { retryable: true, overflow: false }],
    ['Upstream said no', 429, { retryable: true, overflow: false }],
    ['Something broke', undefined, { retryable: true, overflow: false }],
    ['Invalid API key', undefined, { retryable: false, overflow: false }],
    ['Bad', 400, { retryable: false, overflow: false }],
    ['This model has a maximum context length of 8192 tokens', 400, { retryable: false, overflow: true }],
  ])('classifies the error "%s" inside the stream', async (message, code, expected) => {
    const { error } = await play(reply(text('a'), streamError(message, code), finish('stop')))
    expect(error).toMatchObject({ ...expected, message: `Provider "local" failed while streaming: ${message}` })
  })

  it('takes text and thinking from content lists', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ]
    const { parts } = await play(reply(bytes(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`), finish('length')))
    expect(parts.map((part) => part.type)).toEqual(['reasoning-start', 'reasoning', 'reasoning-end', 'text', 'finish'])
    expect(parts.at(-1)).toMatchObject({ reason: 'length' })
  })

  it('gives zero usage when the provider reports none', async () => {
    const { parts } = await play(reply(text('a'), finishReason('stop'), bytes('data: [DONE]\n\n')))
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    })
  })
})
