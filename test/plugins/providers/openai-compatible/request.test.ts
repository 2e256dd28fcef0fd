import { describe, expect, it } from 'vitest'
import type { ProviderSettings } from '../../../../src/ports/plugin.js'
import type { GenerateRequest, ModelMessage } from '../../../../src/ports/provider-adapter.js'
import { createAdapter } from '../../../../src/plugins/providers/exchange/adapter.js'
import { chatCompletions } from '../../../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { normaliseUsage } from '../../../../src/plugins/providers/openai-compatible/usage.js'
import { createPause } from '../../../../src/kernel/pause.js'
import { createFakeEffects } from '../../../fakes/effects.js'
import { REQUEST, settings, TIMEOUTS } from './setup.js'

interface Built {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Record<string, unknown>
}

/** What one step sends. */
async function build(request: Partial<GenerateRequest> = {}, overrides: Partial<ProviderSettings> = {}): Promise<Built> {
  const sent: Request[] = []
  const effects = createFakeEffects({
    sha256: () => 'abcdef0123456789',
    fetch: (input, init) => {
      sent.push(new Request(input, init))
      return Promise.resolve(new Response('no', { status: 400 }))
    },
  })
  const adapter = createAdapter(chatCompletions, settings({ baseURL: 'http://127.0.0.1:1/v1/', ...overrides }), {
    effects,
    timeouts: TIMEOUTS,
    pause: createPause(),
  })
  const step = adapter.generate({ ...REQUEST, ...request }, () => {}, new AbortController().signal)
  await expect(step).rejects.toThrow('answered 400: no')
  const [only] = sent
  if (only === undefined) throw new Error('nothing was sent')
  return { url: only.url, headers: Object.fromEntries(only.headers), body: (await only.json()) as Record<string, unknown> }
}

const messagesOf = async (messages: readonly ModelMessage[], overrides: Partial<ProviderSettings> = {}) =>
  (await build({ messages }, overrides)).body.messages

describe('the request', () => {
  it('goes to the chat completions of the base address with the least it needs', async () => {
    expect(await build()).toEqual({
      url: 'http://127.0.0.1:1/v1/chat/completions',
      headers: { 'user-agent': 'svc', 'content-type': 'application/json', accept: 'text/event-stream' },
      body: {
        model: 'scripted',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    })
  })

  it('carries tools, sampling and the output limit', async () => {
    const tools = [{ id: 'read', description: 'Reads.', parameters: { type: 'object' } }]
    expect((await build({ tools, temperature: 0.5, topP: 0.9, maxOutputTokens: 100 })).body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } } }],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 100,
    })
  })

  it('writes what it says of a tool once, however many steps offer it', async () => {
    let written = 0
    const schema = { type: 'object', toJSON: () => ({ type: 'object', title: `written ${(written += 1)} times` }) }
    const tools = [{ id: 'read', description: 'Reads.', parameters: schema }]
    const offered = async () => (await build({ tools })).body.tools
    expect([await offered(), await offered()]).toEqual(
      Array.from({ length: 2 }, () => [
        { type: 'function', function: { name: 'read', description: 'Reads.', parameters: { type: 'object', title: 'written 1 times' } } },
      ]),
    )
  })

  it('merges options but lets none of them replace the structure', async () => {
    const options = {
      seed: 7,
      model: 'other',
      messages: [],
      stream: false,
      stream_options: {},
      tools: [],
      reasoningEffort: 'high',
      textVerbosity: 'low',
    }
    expect((await build({ options })).body).toEqual({ ...(await build()).body, seed: 7, verbosity: 'low' })
  })

  it.each([
    ['@ai-sdk/openai/chat', { reasoning_effort: 'xhigh', store: false, stream_options: { include_usage: true } }],
    ['@openrouter/ai-sdk-provider', { reasoning: { effort: 'xhigh' }, usage: { include: true } }],
  ])('names reasoning effort and usage as %s wants them', async (npm, expected) => {
    const compatibility = { streamUsage: true, reasoningEffort: true }
    expect((await build({ options: { reasoningEffort: 'max' } }, { npm, compatibility })).body).toMatchObject(expected)
  })

  it('asks for no usage when the endpoint is not to be asked', async () => {
    const { body } = await build({}, { compatibility: { streamUsage: false, reasoningEffort: false } })
    expect(body).not.toHaveProperty('stream_options')
  })

  it('uses the address of the vendor when none is configured', async () => {
    expect((await build({}, { npm: '@ai-sdk/groq', baseURL: undefined })).url).toBe('https://api.groq.com/openai/v1/chat/completions')
  })

  it('authorises with the key alone, whatever headers say, and sends none without a key', async () => {
    const headers = { Authorization: 'Bearer stolen', 'X-Team': 'a' }
    expect((await build({ headers: { 'x-model': 'b' } }, { headers, apiKey: () => 'sk-1' })).headers).toMatchObject({
      authorization: 'Bearer sk-1',
      'x-team': 'a',
      'x-model': 'b',
    })
    expect((await build({}, { headers })).headers).not.toHaveProperty('authorization')
  })

  it('names its agent exactly as configured', async () => {
    expect((await build({}, { headers: { 'User-Agent': 'ours/1' } })).headers['user-agent']).toBe('ours/1')
  })

  it('is well-formed Unicode even when a text is not', async () => {
    const text = 'half \ud83d, whole \u{1f600}, escape \\ud83d'
    expect(await messagesOf([{ role: 'user', content: [{ type: 'text', text }] }])).toEqual([
      { role: 'user', content: 'half \ufffd, whole \u{1f600}, escape \\ud83d' },
    ])
  })
})

describe('the conversation', () => {
  it('keeps its order, joins neighbouring system texts and leaves out empty answers', async () => {
    expect(
      await messagesOf([
        { role: 'system', text: 'one' },
        { role: 'system', text: 'two' },
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'tool-call', callId: 'call:1', tool: 'read', input: { path: 'a' } },
          ],
        },
        { role: 'tool', results: [{ callId: 'call:1', tool: 'read', output: 'text', isError: false }] },
        { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
      ]),
    ).toEqual([
      { role: 'system', content: 'one\n\ntwo' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'text' },
      { role: 'assistant', content: 'done' },
    ])
  })

  it('gives reasoning back under the field the model wants', async () => {
    const messages: ModelMessage[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'yes' },
        ],
      },
    ]
    expect((await build({ messages, reasoningField: 'reasoning_content' })).body.messages).toEqual([
      { role: 'assistant', content: 'yes', reasoning_content: 'hm' },
    ])
  })

  it('carries images, documents, sound and texts, and a note for the rest', async () => {
    const file = (mime: string, url: string, filename?: string) => ({
      type: 'file' as const,
      file: { mime, url, ...(filename === undefined ? {} : { filename }) },
    })
    expect(
      await messagesOf([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            file('image/png', 'data:image/png;base64,AAAA'),
            file('image/png', 'https://example.com/a.png'),
            file('application/pdf', 'data:application/pdf;base64,BBBB', 'a.pdf'),
            file('audio/mpeg', 'data:audio/mpeg;base64,CCCC'),
            file('text/plain', 'data:text/plain;base64,aMOpbGxv', 'a.txt'),
            file('application/zip', 'data:application/zip;base64,DDDD', 'a.zip'),
            file('image/png', 'file:///a.png', 'a.png'),
          ],
        },
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          { type: 'input_audio', input_audio: { data: 'CCCC', format: 'mp3' } },
          { type: 'text', text: 'a.txt:\nhéllo' },
          { type: 'text', text: '[a.zip (application/zip) cannot be sent to this model]' },
          { type: 'text', text: '[a.png (image/png) cannot be sent to this model]' },
        ],
      },
    ])
  })

  const withAttachment: ModelMessage[] = [
    {
      role: 'tool',
      results: [
        {
          callId: 'a',
          tool: 'read',
          output: 'image',
          isError: false,
          attachments: [{ mime: 'image/png', url: 'data:image/png;base64,AA' }],
        },
        { callId: 'b', tool: 'grep', output: 'none', isError: false },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'next' }] },
  ]

  it('sends attachments of tool results as a user message after all results', async () => {
    expect(await messagesOf(withAttachment)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'image' },
      { role: 'tool', tool_call_id: 'b', content: 'none' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attachments of the result of read:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
      { role: 'user', content: 'next' },
    ])
  })

  it('fits vendors with short call ids that want an answer after tools', async () => {
    expect(await messagesOf(withAttachment, { npm: '@ai-sdk/mistral' })).toMatchObject([
      { role: 'tool', tool_call_id: 'abcdef012' },
      { role: 'tool', tool_call_id: 'abcdef012' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user' },
      { role: 'user', content: 'next' },
    ])
  })
})

describe('usage', () => {
  it.each([
    [
      'without cache in the input and without reasoning in the output',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      { input: 30, output: 30, reasoning: 20, cache: { read: 60, write: 10 }, total: 150 },
    ],
    [
      'with reasoning that was counted beside the output',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 45, completion_tokens_details: { reasoning_tokens: 30 } },
      { input: 10, output: 5, reasoning: 30, cache: { read: 0, write: 0 }, total: 45 },
    ],
    [
      'with the other spelling of cache hits',
      { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 4 },
      { input: 6, output: 5, reasoning: 0, cache: { read: 4, write: 0 } },
    ],
    [
      'never below zero, whatever the provider says',
      { prompt_tokens: -3, completion_tokens: null, prompt_tokens_details: { cached_tokens: 9 } },
      { input: 0, output: 0, reasoning: 0, cache: { read: 9, write: 0 } },
    ],
  ])('is counted %s', (_, raw, expected) => {
    expect(normaliseUsage(raw)).toEqual(expected)
  })

  it.each([
    ['negative', { prompt_tokens: -3, completion_tokens: 5 }, ['prompt_tokens'], { input: 0, output: 5 }],
    ['fractions', { prompt_tokens: 2.6, completion_tokens: 5 }, ['prompt_tokens'], { input: 3, output: 5 }],
    ['beyond belief', { prompt_tokens: 1e308, completion_tokens: 1_000_000_001, total_tokens: 1e308 }, undefined, { input: 0, output: 0 }],
    ['no numbers', { prompt_tokens: '7', total_tokens: {} }, ['prompt_tokens', 'total_tokens'], { input: 0, output: 0 }],
    ['what they should be', { prompt_tokens: 1_000_000_000, completion_tokens: null }, [], { input: 1_000_000_000, output: 0 }],
  ])('tells which figures cannot be: %s', (_, raw, fields = ['prompt_tokens', 'completion_tokens', 'total_tokens'], counted) => {
    const odd: string[] = []
    const usage = normaliseUsage(raw, (names) => odd.push(...names))
    expect(usage).toEqual({ reasoning: 0, cache: { read: 0, write: 0 }, ...counted })
    expect(odd).toEqual(fields)
  })
})
