// What is asked and understood without the SDK, held to the SDK.
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import { asksForUsage, SDK_NAME, toBody, toCall } from '../../../../src/plugins/providers/openai-compatible/call.js'
import { mend, type Mended } from '../../../../src/plugins/providers/openai-compatible/chunks.js'
import { createChatParts } from '../../../../src/plugins/providers/openai-compatible/parts.js'
import { toPrompt } from '../../../../src/plugins/providers/openai-compatible/prompt.js'
import { VENDORS } from '../../../../src/plugins/providers/openai-compatible/vendors.js'
import type { GenerateRequest } from '../../../../src/ports/provider-adapter.js'
import type { JsonRecord } from '../../../../src/protocol/text/json.js'
import { createAdapter } from '../../../../src/plugins/providers/exchange/adapter.js'
import { chatCompletions } from '../../../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { createPause } from '../../../../src/kernel/pause.js'
import { createFakeEffects } from '../../../fakes/effects.js'
import { REQUEST, settings, TIMEOUTS } from './setup.js'

function modelOf(npm: string, fetch: typeof globalThis.fetch) {
  const includeUsage = asksForUsage(settings({ npm }))
  const sdk = createOpenAICompatible({
    name: SDK_NAME,
    baseURL: 'http://127.0.0.1:1/v1',
    includeUsage,
    transformRequestBody: toBody(npm),
    fetch,
  })
  return sdk.chatModel('scripted')
}

async function ofSdk(chunks: readonly Mended[]): Promise<LanguageModelV3StreamPart[]> {
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  const model = modelOf('', () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })))
  const options: LanguageModelV3CallOptions = {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
    includeRawChunks: true,
  }
  const { stream } = await model.doStream(options)
  const parts: LanguageModelV3StreamPart[] = []
  try {
    for await (const part of stream) parts.push(part)
  } catch (error) {
    parts.push({ type: 'error', error: String(error).replace(/^.*Error: /, '') })
  }
  return parts
}

function ofOurs(chunks: readonly Mended[]): LanguageModelV3StreamPart[] {
  const parts: LanguageModelV3StreamPart[] = []
  let made = 0
  const { add, end } = createChatParts(
    (part) => void parts.push(part),
    () => `made-${made++}`,
  )
  try {
    for (const chunk of chunks) add(chunk)
    end()
  } catch (error) {
    parts.push({ type: 'error', error: error instanceof Error ? error.message : error })
  }
  return parts
}

/** What is looked at of parts; ids that were made are told by their order. */
function seen(parts: readonly LanguageModelV3StreamPart[], given: ReadonlySet<string>): unknown[] {
  const made = new Map<string, string>()
  const nameOf = (id: string) => {
    if (given.has(id)) return id
    if (!made.has(id)) made.set(id, `made ${made.size}`)
    return made.get(id)
  }
  return parts.flatMap((part): unknown[] => {
    switch (part.type) {
      case 'raw':
        return [{ raw: JSON.parse(JSON.stringify(part.rawValue)) as unknown }]
      case 'text-delta':
      case 'reasoning-delta':
        return [[part.type, part.delta]]
      case 'reasoning-start':
      case 'reasoning-end':
        return [part.type]
      case 'tool-input-start':
        return [[part.type, nameOf(part.id), part.toolName]]
      case 'tool-input-delta':
        return [[part.type, nameOf(part.id), part.delta]]
      case 'error':
        return part.error instanceof Error && /finish reason/.test(part.error.message)
          ? []
          : [{ error: JSON.parse(JSON.stringify(part.error)) as unknown }]
      case 'finish':
        return [{ finish: part.finishReason }]
      default:
        return []
    }
  })
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const PIECES = ['{', '}', '{"a":1}', ' {"b":', '2}', '[1]', '"text"', '', '{"s":"}"']

describe('answers are understood as the SDK does', () => {
  it.each(Array.from({ length: 400 }, (_, seed) => seed))('of seed %i', async (seed) => {
    const random = randomOf(seed)
    const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const call = (): JsonRecord => ({
      ...one<JsonRecord>([{}, { index: 0 }, { index: 1 }, { index: 0 }]),
      ...one<JsonRecord>([{}, {}, { id: 'a' }, { id: 'b' }]),
      function: { ...one<JsonRecord>([{}, { name: 'read' }, { name: 'read' }, { name: 'grep' }, { name: ' ' }]), arguments: one(PIECES) },
    })
    const delta = (): JsonRecord =>
      one<() => JsonRecord>([
        () => ({ content: 'text' }),
        () => ({ reasoning: 'thought' }),
        () => ({ content: [{ type: 'text', text: 'a' }, { type: 'thinking', thinking: [{ type: 'text', text: 'b' }] }, 3] }),
        () => ({ reasoning_content: 'both', content: 'at once', tool_calls: [call()] }),
        () => ({ tool_calls: [call()] }),
        () => ({ tool_calls: [call(), call()] }),
        () => ({ tool_calls: [call()] }),
      ])()
    const chunks = Array.from({ length: 1 + Math.floor(random() * 6) }, () => mend({ choices: [{ delta: delta() }] }))
    const last = one<JsonRecord[]>([
      [],
      [{ choices: [{ finish_reason: 'stop' }] }],
      [{ choices: [{ delta: {}, finish_reason: 'odd' }] }],
      [{ error: 'no' }],
    ])
    const all = [...chunks, ...last.map(mend)]
    const given = new Set(['a', 'b'])
    const [ours, sdks] = [seen(ofOurs(all), given), seen(await ofSdk(all), given)]
    // Of a chunk that cannot be read the SDK tells nothing.
    const isRead = !JSON.stringify(sdks).includes('function.name')
    expect(isRead ? ours : [...ours.slice(0, sdks.length - 1), ours.at(-1)]).toEqual(sdks)
  })
})

describe('requests are written as the SDK does', () => {
  const image = { mime: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' }
  const request: GenerateRequest = {
    ...REQUEST,
    messages: [
      { role: 'system', text: 'one' },
      { role: 'system', text: 'two' },
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'file', file: image },
          { type: 'file', file: { ...image, url: 'https://a.example/b.png' } },
          { type: 'file', file: { mime: 'audio/wav', url: 'data:audio/wav;base64,AAAA' } },
          { type: 'file', file: { mime: 'audio/mpeg', url: 'data:audio/mpeg;base64,AAAA' } },
          { type: 'file', file: { mime: 'application/pdf', url: 'data:application/pdf;base64,AAAA' } },
          { type: 'file', file: { mime: 'text/plain', url: 'data:text/plain;base64,YQ==' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'c' },
          { type: 'tool-call', callId: 'x/1', tool: 'read', input: { path: 'a' } },
          { type: 'tool-call', callId: 'x2', tool: 'read', input: '{"a":1}' },
          { type: 'tool-call', callId: 'x3', tool: 'read', input: 'text' },
        ],
      },
      { role: 'tool', results: [{ callId: 'x/1', tool: 'read', output: 'done', isError: false, attachments: [image] }] },
      { role: 'assistant', content: [{ type: 'tool-call', callId: 'x4', tool: 'read', input: undefined }] },
      { role: 'tool', results: [{ callId: 'x4', tool: 'read', output: 'done', isError: false }] },
      { role: 'user', content: [{ type: 'text', text: 'd' }] },
    ],
    tools: [{ id: 'read', description: 'Reads.', parameters: { type: 'object', properties: { path: { type: 'string' } } } }],
    temperature: 0.5,
    topP: 0.9,
    maxOutputTokens: 100,
    options: { reasoningEffort: 'high', textVerbosity: 'low', seed: 1 },
  }

  it.each([
    ...Object.keys(VENDORS).map((npm) => ({ npm, changes: {} })),
    { npm: '@ai-sdk/openai-compatible', changes: { reasoningField: 'reasoning_details' } },
    { npm: '@ai-sdk/openai-compatible', changes: { tools: [] } },
  ])('for $npm, byte for byte', async ({ npm, changes }) => {
    const asked = { ...request, ...changes }
    const bodies: unknown[] = []
    const fetch = (_: unknown, init?: RequestInit) => {
      bodies.push(typeof init?.body === 'string' ? init.body : Buffer.from(init?.body as Uint8Array).toString())
      return Promise.resolve(new Response('data: {"choices":[{"finish_reason":"stop"}]}\n\n'))
    }
    const effects = createFakeEffects({ fetch })
    const of = settings({ npm, baseURL: 'http://127.0.0.1:1/v1' })
    await createAdapter(chatCompletions, of, { effects, timeouts: TIMEOUTS, pause: createPause() }).generate(
      asked,
      () => undefined,
      new AbortController().signal,
    )
    const { options, messages, writing } = toCall(of, asked, { sha256: effects.sha256, mark: 'mark' })
    await modelOf(npm, fetch).doStream({ ...options, prompt: toPrompt(messages, writing) })
    expect(bodies[0]).toBe(bodies[1])
  })
})
