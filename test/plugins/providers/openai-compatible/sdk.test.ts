import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import type { StreamPart } from '../../../../src/ports/provider-adapter.js'
import { rewriteEvents } from '../../../../src/plugins/providers/exchange/events.js'
import { createAnswer } from '../../../../src/plugins/providers/openai-compatible/step.js'
import { bytes, createGate, finish, hold, reply, type Step, text, toolCall } from '../../../fixtures/model-server.js'
import { createBench, play } from './setup.js'

const chunk = (data: unknown): Step => bytes(`data: ${JSON.stringify(data)}\n\n`)
const delta = (content: unknown): Step => chunk({ choices: [{ delta: content }] })
const calls = (...entries: readonly unknown[]): Step => delta({ tool_calls: entries })

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** What the SDK gets of some reads, and what is handed on without it. */
function read(...reads: readonly string[]): { readonly pushed: StreamPart[]; readonly got: (string | undefined)[] } {
  const pushed: StreamPart[] = []
  const context = { providerId: 'local', secret: undefined, now: () => 0 }
  const answer = createAnswer({ push: (part) => pushed.push(part), context, broken: () => undefined, onOddUsage: () => {} })
  const rewrite = rewriteEvents({ read: (chunk) => answer.read(chunk), refuse: () => undefined })
  const got = reads.map((text) => {
    const rest = rewrite(new TextEncoder().encode(text))
    return rest && new TextDecoder().decode(rest)
  })
  return { pushed, got }
}

const grows = (content: string) => event({ choices: [{ delta: { content } }] })

describe('the chunks of an answer', () => {
  it('that only add to a text are handed on as they are read, and the SDK sees the others', () => {
    const thinks = event({ choices: [{ delta: { reasoning: 'a' } }] })
    const last = event({ choices: [{ delta: { content: 'd' }, finish_reason: 'stop' }] })
    const { pushed, got } = read(`${thinks}${grows('b')}`, `${grows('c')}${last}${event('[DONE]')}`)
    expect(got).toEqual([undefined, `${last}${event('[DONE]')}`])
    expect(pushed).toEqual([
      { type: 'reasoning-start', id: 'reasoning-0' },
      { type: 'reasoning', id: 'reasoning-0', delta: 'a' },
      { type: 'reasoning-end', id: 'reasoning-0' },
      { type: 'text', delta: 'b' },
      { type: 'text', delta: 'c' },
    ])
  })

  it('reach the SDK, text and all, once it has been given a call: order is kept', () => {
    const call = event({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }] } }] })
    expect(read(`${grows('a')}${call}${grows('b')}`)).toEqual({ pushed: [{ type: 'text', delta: 'a' }], got: [`${call}${grows('b')}`] })
  })

  it('may come in pieces, among comments', () => {
    const text = grows('é')
    const { pushed } = read(': keep-alive\n\n', text.slice(0, 20), `${text.slice(20)}: x\n\n${grows('b')}`)
    expect(pushed).toEqual([
      { type: 'text', delta: 'é' },
      { type: 'text', delta: 'b' },
    ])
  })

  it('that are no JSON objects are left to the SDK, lines and all', () => {
    const broken = 'data: {"a\ndata: b\n\ndata: 1\n\n'
    expect(read(broken)).toEqual({ pushed: [], got: [broken] })
  })

  it('need mending: the SDK refuses a chunk without choices', async () => {
    const fetch = () => Promise.resolve(new Response(event({ object: 'ping' }), { headers: { 'content-type': 'text/event-stream' } }))
    const model = createOpenAICompatible({ name: 'svc', baseURL: 'http://127.0.0.1:1/v1', fetch }).chatModel('m')
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }] })
    const errors: unknown[] = []
    for await (const part of stream) if (part.type === 'error') errors.push(part.error)
    expect(errors).toMatchObject([{ name: 'AI_TypeValidationError' }])
  })

  it('forgives chunks without choices, empty reasons and errors that are null', async () => {
    const { parts, error } = await play(
      reply(
        chunk({ object: 'ping' }),
        chunk({ error: null, choices: [{ delta: { content: 'a', reasoning_content: '' }, finish_reason: '' }] }),
        finish('stop'),
      ),
    )
    expect(error).toBeUndefined()
    expect(parts.map((part) => part.type)).toEqual(['text', 'finish'])
  })

  it('takes refusals as text, and arguments sent as an object', async () => {
    const { parts } = await play(
      reply(delta({ refusal: 'no' }), calls({ index: 0, id: 'a', function: { name: 'read', arguments: { x: 1 } } }), finish('stop')),
    )
    expect(parts.filter((part) => part.type === 'text' || part.type === 'tool-call')).toEqual([
      { type: 'text', delta: 'no' },
      { type: 'tool-call', callId: 'a', tool: 'read', input: '{"x":1}' },
    ])
  })

  it('finds errors inside a choice, and errors that are a text', async () => {
    const inside = await play(reply(chunk({ choices: [{ error: { message: 'Overloaded' } }] })))
    expect(inside.error).toMatchObject({ retryable: true, message: 'Provider "local" failed while streaming: Overloaded' })
    const text = await play(reply(chunk({ error: 'Invalid API key' })))
    expect(text.error).toMatchObject({ retryable: false, message: 'Provider "local" failed while streaming: Invalid API key' })
  })
})

describe('tool calls', () => {
  it('that are announced together wait for their own arguments', async () => {
    const { parts } = await play(
      reply(
        calls(
          { index: 0, id: 'a', function: { name: 'read', arguments: '' } },
          { index: 1, id: 'b', function: { name: 'grep', arguments: '' } },
        ),
        calls({ index: 0, function: { arguments: '{"x":1}' } }),
        calls({ index: 1, function: { arguments: '{"y":2}' } }),
        finish('tool_calls'),
      ),
    )
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([
      { type: 'tool-call', callId: 'a', tool: 'read', input: '{"x":1}' },
      { type: 'tool-call', callId: 'b', tool: 'grep', input: '{"y":2}' },
    ])
  })

  it('are handed on before the stream has ended, when the next one begins', async () => {
    const gate = createGate()
    const bench = await createBench([
      reply(
        toolCall({ id: 'a', name: 'read', input: {} }),
        toolCall({ id: 'b', name: 'read', input: {}, index: 1 }),
        hold(gate),
        finish('tool_calls'),
      ),
    ])
    const { outcome } = bench.start({
      onPart: (part) => {
        if (part.type === 'tool-call' && part.callId === 'a') gate.open()
      },
    })
    expect((await outcome).parts.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' })
    await bench.server.close()
  })

  it('without an id get one each', async () => {
    const { parts } = await play(
      reply(
        calls({ function: { name: 'read', arguments: '{}' } }),
        calls({ function: { name: 'read', arguments: '{}' } }),
        finish('tool_calls'),
      ),
    )
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
    expect(new Set(ids).size).toBe(2)
  })

  it('without a name are a failure worth another try', async () => {
    const { error } = await play(reply(calls({ index: 0, id: 'a', function: { arguments: '{}' } }), finish('tool_calls')))
    expect(error).toMatchObject({ retryable: true })
    expect(error?.message).toContain('sent what cannot be read')
  })
})

it('steps of one model at the same time stay apart', async () => {
  const gate = createGate()
  const bench = await createBench(({ index }) => reply(text(`${index}`), hold(gate), text(`${index}`), finish('stop')))
  let seen = 0
  const onPart = () => void (++seen === 2 && gate.open())
  const steps = [bench.start({ onPart }), bench.start({ onPart })]
  const texts = await Promise.all(
    steps.map(async ({ outcome }) => (await outcome).parts.flatMap((part) => (part.type === 'text' ? [part.delta] : [])).join('')),
  )
  expect(texts.toSorted()).toEqual(['00', '11'])
  await bench.server.close()
})
