/** The stand-ins of the vendors' endpoints, as the vendors' own clients understand them. */
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import OpenAI, { APIError as OpenAIError } from 'openai'
import { afterEach, expect, it } from 'vitest'
import { type ModelServer, type Reply, startModelServer } from '../../fixtures/model-server.js'
import { chat } from '../../fixtures/vendors/chat.js'
import { content } from '../../fixtures/vendors/content.js'
import { messages } from '../../fixtures/vendors/messages.js'
import { responses } from '../../fixtures/vendors/responses.js'
import { TOKENS } from '../../fixtures/vendors/turn.js'

const PNG = 'iVBORw0KGgo='
const TURN = {
  thought: { text: 'hm', proof: 'P1' },
  text: ['He', 'llo'],
  calls: [
    { id: 'c1', name: 'read', input: { x: 1 } },
    { id: 'c2', name: 'grep', input: { y: 2 } },
  ],
  cached: 40,
}
const SEARCH = { id: 'ws_1', query: 'svc', url: 'https://example.org/' }
const KINDS = ['overload', 'rate', 'auth', 'overflow'] as const
const once = { maxRetries: 0, apiKey: 'sk-1' }

let server: ModelServer
const start = async (answer: Reply) => {
  server = await startModelServer(() => answer)
  return server.url.replace(/\/v1$/, '')
}
afterEach(() => server.close())

async function refuses(call: PromiseLike<unknown>, kind: abstract new (...args: never) => Error, status: number | undefined) {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ status })
}

it('chat completions: a stream with calls, an image that is taken, errors', async () => {
  const client = new OpenAI({ ...once, baseURL: `${await start(chat.reply(TURN))}/v1` })
  const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PNG}` } }
  const asked = { model: 'scripted', messages: [{ role: 'user' as const, content: [image] }], stream_options: { include_usage: true } }
  const completion = await client.chat.completions.stream(asked).finalChatCompletion()
  expect(completion.choices).toMatchObject([
    {
      finish_reason: 'tool_calls',
      message: {
        content: 'Hello',
        tool_calls: [
          { id: 'c1', function: { name: 'read', arguments: '{"x":1}' } },
          { id: 'c2', function: { name: 'grep', arguments: '{"y":2}' } },
        ],
      },
    },
  ])
  expect(completion.usage).toMatchObject({ prompt_tokens: TOKENS.input, prompt_tokens_details: { cached_tokens: 40 } })
  expect(server.requests[0]?.path).toBe(chat.path)
  for (const [index, kind] of KINDS.entries()) {
    await server.close()
    const failing = new OpenAI({ ...once, baseURL: `${await start(chat.fault(kind))}/v1` })
    await refuses(failing.chat.completions.create({ ...asked, stream: true }), OpenAIError, [503, 429, 401, 400][index])
  }
})

it('responses: a stream with encrypted reasoning, a search, calls, a refusal, errors', async () => {
  const client = new OpenAI({ ...once, baseURL: `${await start(responses.reply({ ...TURN, search: SEARCH }))}/v1` })
  const image = { type: 'input_image' as const, detail: 'auto' as const, image_url: `data:image/png;base64,${PNG}` }
  const asked = { model: 'gpt-5', input: [{ role: 'user' as const, content: [image] }] }
  const deltas: string[] = []
  const stream = client.responses.stream(asked)
  stream.on('response.output_text.delta', ({ delta }) => void deltas.push(delta))
  const response = await stream.finalResponse()
  expect(response.output).toMatchObject([
    { type: 'reasoning', encrypted_content: 'P1', summary: [{ text: 'hm' }] },
    { type: 'web_search_call', action: { query: 'svc' } },
    { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
    { type: 'function_call', call_id: 'c1', arguments: '{"x":1}' },
    { type: 'function_call', call_id: 'c2', arguments: '{"y":2}' },
  ])
  // The client believes the last event, so the deltas are compared with it.
  expect(deltas.join('')).toBe(response.output_text)
  expect(response.usage).toMatchObject({ input_tokens_details: { cached_tokens: 40 }, output_tokens_details: { reasoning_tokens: 10 } })
  expect(server.requests[0]?.path).toBe(responses.path)
  await server.close()
  const refusing = new OpenAI({ ...once, baseURL: `${await start(responses.reply({ text: ['no'], stop: 'refusal' }))}/v1` })
  const refused = await refusing.responses.stream(asked).finalResponse()
  expect(refused.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'no' }] }])
  for (const [index, kind] of KINDS.entries()) {
    await server.close()
    const failing = new OpenAI({ ...once, baseURL: `${await start(responses.fault(kind))}/v1` })
    await refuses(failing.responses.create({ ...asked, stream: true }), OpenAIError, [503, 429, 401, 400][index])
  }
})

it('messages: a stream with signed and redacted thoughts, a search, calls, a refusal, errors', async () => {
  const baseURL = async (answer: Reply) => ({ ...once, baseURL: await start(answer) })
  const client = new Anthropic(await baseURL(messages.reply({ ...TURN, search: SEARCH })))
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PNG }
  const asked = { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }] }
  const message = await client.messages.stream(asked).finalMessage()
  expect(message).toMatchObject({
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'P1' },
      { type: 'redacted_thinking', data: 'redacted-P1' },
      { type: 'server_tool_use', id: 'ws_1', input: { query: 'svc' } },
      { type: 'web_search_tool_result', tool_use_id: 'ws_1' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'c1', input: { x: 1 } },
      { type: 'tool_use', id: 'c2', input: { y: 2 } },
    ],
    usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: TOKENS.output },
  })
  expect(server.requests[0]?.path).toBe(messages.path)
  await server.close()
  const refusing = new Anthropic(await baseURL(messages.reply({ text: ['no'], stop: 'refusal' })))
  expect((await refusing.messages.stream(asked).finalMessage()).stop_reason).toBe('refusal')
  for (const [index, kind] of KINDS.entries()) {
    await server.close()
    const failing = new Anthropic(await baseURL(messages.fault(kind)))
    await refuses(failing.messages.create({ ...asked, stream: true }), AnthropicError, [529, 429, 401, 400][index])
  }
})

it('content: a stream with thoughts, signed calls, a refusal, errors', async () => {
  const clientOf = async (answer: Reply) => new GoogleGenAI({ apiKey: 'sk-1', httpOptions: { baseUrl: await start(answer) } })
  const asked = { model: content.model, contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }] }
  const client = await clientOf(content.reply(TURN))
  const parts = []
  let last
  for await (const piece of await client.models.generateContentStream(asked)) {
    parts.push(...(piece.candidates?.[0]?.content?.parts ?? []))
    last = piece
  }
  // The client takes whatever parses: every field is compared with its types' names.
  expect(parts).toEqual([
    { text: 'hm', thought: true },
    { text: 'He' },
    { text: 'llo' },
    { functionCall: { id: 'c1', name: 'read', args: { x: 1 } }, thoughtSignature: 'P1' },
    { functionCall: { id: 'c2', name: 'grep', args: { y: 2 } } },
    { text: '' },
  ])
  expect(last?.candidates?.[0]?.finishReason).toBe('STOP')
  expect(last?.usageMetadata).toEqual({
    promptTokenCount: TOKENS.input,
    cachedContentTokenCount: 40,
    candidatesTokenCount: TOKENS.output - TOKENS.thought,
    thoughtsTokenCount: TOKENS.thought,
    totalTokenCount: TOKENS.input + TOKENS.output,
  })
  expect(server.requests[0]?.path).toBe(content.path)
  await server.close()
  const refusing = await clientOf(content.reply({ text: ['no'], stop: 'refusal' }))
  for await (const piece of await refusing.models.generateContentStream(asked)) last = piece
  expect(last?.candidates?.[0]?.finishReason).toBe('SAFETY')
  for (const [index, kind] of KINDS.entries()) {
    await server.close()
    const failing = await clientOf(content.fault(kind))
    await refuses(failing.models.generateContentStream(asked), ApiError, [503, 429, 400, 400][index])
  }
})
