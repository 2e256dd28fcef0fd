/** One conversation with everything that can happen in it, the same in all four protocols, through the built program. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, type JsonRecord } from '../../../src/protocol/text/json.js'
import { type ModelServer, startModelServer } from '../../fixtures/model-server.js'
import { chat } from '../../fixtures/vendors/chat.js'
import { content } from '../../fixtures/vendors/content.js'
import { messages } from '../../fixtures/vendors/messages.js'
import { responses } from '../../fixtures/vendors/responses.js'
import type { Turn, Vendor } from '../../fixtures/vendors/turn.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { textOf, unfinished } from '../server/transcript.js'

const VENDORS = [chat, responses, messages, content]
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = 'JVBERi0xLjQK'
const AT_ONCE = { 'retry-after': '0' }

const CALLS: Turn = {
  thought: { text: 'I should look.', proof: 'P1' },
  text: ['Let me ', 'look.'],
  calls: [
    { id: 'c1', name: 'read', input: { filePath: 'a.txt' } },
    { id: 'c2', name: 'read', input: { filePath: 'b.txt' } },
  ],
}
const SEARCHED: Turn = { search: { id: 'ws_1', query: 'svc', url: 'https://example.org/' }, text: ['Both read.'], cached: 60 }

/** What happens at a vendor, request by request. */
const script = (vendor: Vendor) => [
  vendor.fault('overload', AT_ONCE),
  vendor.fault('rate', AT_ONCE),
  vendor.reply({ text: ['half a'], isCut: true }),
  vendor.reply(CALLS),
  vendor.reply(SEARCHED),
  vendor.fault('auth'),
  vendor.reply({ thought: { text: 'Again.', proof: 'P2' }, text: ['After the restart.'] }),
  vendor.fault('overflow'),
  vendor.reply({ text: ['## Goal\nTo read two files. They said alpha and beta, and that is all that was asked for so far.'] }),
  vendor.reply({ text: ['Small again.'] }),
  vendor.reply({ text: ['I will not.'], stop: 'refusal' }),
]

const TOOLS: Readonly<Record<string, object>> = {
  responses: { providerTools: [{ id: 'openai.web_search' }] },
  messages: { providerTools: [{ id: 'anthropic.web_search_20250305' }] },
}

let scene: Scene
let server: Server
let stream: Stream
/** Events of the server that was killed. */
let before: readonly AnyEvent[]
const standIns = new Map<string, ModelServer>()
const sessions = new Map<string, string>()

const providerOf = (vendor: Vendor, url: string) => ({
  npm: vendor.npm,
  env: ['THE_KEY'],
  options: { baseURL: vendor.baseURL(url.replace(/\/v1$/, '')) },
  models: {
    thinker: {
      id: vendor.model,
      attachment: true,
      reasoning: true,
      interleaved: { field: 'reasoning_content' },
      limit: { context: 100_000, output: 4000 },
      options: { reasoningEffort: 'low', ...TOOLS[vendor.name] },
    },
  },
})

async function start(): Promise<void> {
  server = await scene.start({ THE_KEY: 'sk-planted', SVC_AGENT_PROVIDER_RETRY_INITIAL_MS: '0' })
  stream = await server.stream({ tail: true })
}

/** A prompt in each session at once, until all are idle. */
async function askAll(body: object): Promise<void> {
  await Promise.all(
    [...sessions].map(async ([name, id]) => {
      const from = stream.received.length
      await server.prompt(id, { ...body, model: { providerId: name, modelId: 'thinker' } })
      await stream.idle(id, from)
    }),
  )
}

beforeAll(async () => {
  scene = openScene(makePlace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' }))
  for (const vendor of VENDORS) standIns.set(vendor.name, await startModelServer(script(vendor)))
  scene.place.configure({
    provider: Object.fromEntries(VENDORS.map((vendor) => [vendor.name, providerOf(vendor, standIns.get(vendor.name)?.url ?? '')])),
  })
  await start()
  for (const { name } of VENDORS) sessions.set(name, (await server.createSession()).id)
  const file = (mime: string, data: string, filename: string) => ({ type: 'file', mime, url: `data:${mime};base64,${data}`, filename })
  await askAll({ parts: [{ type: 'text', text: 'look' }, file('image/png', PNG, 'a.png'), file('application/pdf', PDF, 'a.pdf')] })
  await server.kill()
  before = stream.events
  await start()
  for (const text of ['who am I?', 'go on', 'too much', 'something bad']) await askAll({ prompt: text })
})
afterAll(async () => {
  await scene.close()
  await Promise.all([...standIns.values()].map((standIn) => standIn.close()))
})

/** A body without the marks that tell a vendor what to cache: they move on, what they mark does not. */
function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (key === 'cache_control' ? [] : [[key, unmarked(inner)]])))
}

function bodyOf(name: string, index: number): JsonRecord {
  return standIns.get(name)?.requests[index]?.body ?? {}
}

const isSystem = (message: unknown) => isRecord(message) && (message['role'] === 'system' || message['role'] === 'developer')

/** What stands before the conversation, and the conversation. */
function promptOf(name: string, index: number): { readonly head: unknown[]; readonly conversation: unknown[] } {
  const { messages: listed, input, contents, system, systemInstruction, tools } = bodyOf(name, index)
  const all = unmarked(listed ?? input ?? contents)
  const said = Array.isArray(all) ? (all as unknown[]) : []
  return { head: [system, systemInstruction, tools, ...said.filter(isSystem)], conversation: said.filter((message) => !isSystem(message)) }
}

const LOOK = 'look\n[image: a.png]\n[file: a.pdf]'
const IMAGE = `data:image/png;base64,${PNG}`
const DOCUMENT = `data:application/pdf;base64,${PDF}`
const FILES = [
  ['c1', 'a.txt', 'alpha'],
  ['c2', 'b.txt', 'beta'],
] as const
const resultOf = (file: string, line: string) =>
  `<path>${file}</path>\n<type>file</type>\n<content>\n1: ${line}\n(End of file, 1 line in all.)\n</content>`
const outputText = (text: string) => [{ type: 'output_text', text }]

/** The conversation before the overflow, field by field, as each vendor receives it. */
const RECEIVED: Readonly<Record<string, readonly unknown[]>> = {
  chat: [
    {
      role: 'user',
      content: [
        { type: 'text', text: LOOK },
        { type: 'image_url', image_url: { url: IMAGE } },
        { type: 'file', file: { filename: 'a.pdf', file_data: DOCUMENT } },
      ],
    },
    {
      role: 'assistant',
      content: 'Let me look.',
      reasoning_content: 'I should look.',
      tool_calls: FILES.map(([id, file]) => ({ id, type: 'function', function: { name: 'read', arguments: `{"filePath":"${file}"}` } })),
    },
    ...FILES.map(([id, file, line]) => ({ role: 'tool', tool_call_id: id, content: resultOf(file, line) })),
    { role: 'assistant', content: 'Both read.' },
    { role: 'user', content: 'who am I?' },
    { role: 'user', content: 'go on' },
    { role: 'assistant', content: 'After the restart.', reasoning_content: 'Again.' },
    { role: 'user', content: 'too much' },
  ],
  responses: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: LOOK },
        { type: 'input_image', image_url: IMAGE },
        { type: 'input_file', filename: 'a.pdf', file_data: DOCUMENT },
      ],
    },
    { type: 'reasoning', id: 'rs_P1', encrypted_content: 'P1', summary: [{ type: 'summary_text', text: 'I should look.' }] },
    { role: 'assistant', id: 'msg_1', content: outputText('Let me look.') },
    ...FILES.map(([id, file]) => ({ type: 'function_call', call_id: id, name: 'read', arguments: `{"filePath":"${file}"}` })),
    ...FILES.map(([id, file, line]) => ({ type: 'function_call_output', call_id: id, output: resultOf(file, line) })),
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'svc', sources: [{ type: 'url', url: 'https://example.org/' }] },
    },
    { role: 'assistant', content: outputText('Both read.') },
    { role: 'user', content: [{ type: 'input_text', text: 'who am I?' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
    { type: 'reasoning', id: 'rs_P2', encrypted_content: 'P2', summary: [{ type: 'summary_text', text: 'Again.' }] },
    { role: 'assistant', id: 'msg_1', content: outputText('After the restart.') },
    { role: 'user', content: [{ type: 'input_text', text: 'too much' }] },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: LOOK },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF }, title: 'a.pdf' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should look.', signature: 'P1' },
        { type: 'redacted_thinking', data: 'redacted-P1' },
        { type: 'text', text: 'Let me look.' },
        ...FILES.map(([id, file]) => ({ type: 'tool_use', id, name: 'read', input: { filePath: file } })),
      ],
    },
    { role: 'user', content: FILES.map(([id, file, line]) => ({ type: 'tool_result', tool_use_id: id, content: resultOf(file, line) })) },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'ws_1', name: 'web_search', input: { query: 'svc' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'ws_1',
          content: [
            { type: 'web_search_result', url: 'https://example.org/', title: 'Found', page_age: null, encrypted_content: 'sealed' },
          ],
        },
        { type: 'text', text: 'Both read.' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'who am I?' },
        { type: 'text', text: 'go on' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Again.', signature: 'P2' },
        { type: 'redacted_thinking', data: 'redacted-P2' },
        { type: 'text', text: 'After the restart.' },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'too much' }] },
  ],
  content: [
    {
      role: 'user',
      parts: [
        { text: LOOK },
        { inlineData: { mimeType: 'image/png', data: PNG } },
        { inlineData: { mimeType: 'application/pdf', data: PDF } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'I should look.', thought: true },
        { text: 'Let me look.' },
        { functionCall: { id: 'c1', name: 'read', args: { filePath: 'a.txt' } }, thoughtSignature: 'P1' },
        { functionCall: { id: 'c2', name: 'read', args: { filePath: 'b.txt' } } },
      ],
    },
    {
      role: 'user',
      parts: FILES.map(([id, file, line]) => ({
        functionResponse: { id, name: 'read', response: { name: 'read', content: resultOf(file, line) } },
      })),
    },
    { role: 'model', parts: [{ text: 'Both read.' }] },
    { role: 'user', parts: [{ text: 'who am I?' }] },
    { role: 'user', parts: [{ text: 'go on' }] },
    {
      role: 'model',
      parts: [
        { text: 'Again.', thought: true },
        { text: 'After the restart.', thoughtSignature: 'P2' },
      ],
    },
    { role: 'user', parts: [{ text: 'too much' }] },
  ],
}

/** What is left of it in the request after the compaction: the last turns, whole. */
const LEFT = { chat: 3, responses: 4, messages: 3, content: 3 } as const

describe.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))('a conversation over %s', (name, vendor) => {
  const sessionId = () => sessions.get(name) ?? ''
  const events = () => [...before, ...stream.events].filter(({ subject }) => subject?.id === sessionId())

  test('goes on through overload, rate limit, a cut stream, a restart, a refused key, an overflow and a refusal', async () => {
    const all = await server.messages(sessionId())
    expect(unfinished(all)).toEqual([])
    const answers = all.flatMap((message) =>
      message.info.role === 'assistant' ? [[message.info.finish, textOf(message).slice(0, 20)]] : [],
    )
    expect(answers).toEqual([
      ['tool-calls', 'Let me look.'],
      ['stop', 'Both read.'],
      ['error', ''],
      ['stop', 'After the restart.'],
      ['stop', '## Goal\nTo read two '],
      ['stop', 'Small again.'],
      ['content-filter', 'I will not.'],
    ])
    const retries = events().flatMap(({ type, data }) =>
      type === 'session.status' && data.status.type === 'retry' ? [data.status.message] : [],
    )
    expect(retries).toEqual([
      expect.stringMatching(/overloaded/i),
      expect.stringMatching(/rate limit|quota/i),
      expect.stringMatching(/terminated|other side closed|connection failed/i),
    ])
    const errors = events().flatMap(({ type, data }) => (type === 'session.error' ? [data.error.message] : []))
    expect(errors).toEqual([expect.stringMatching(/answered 40[01]: .*key/)])
  })

  test('is received by the vendor field by field, with every proof', () => {
    expect(promptOf(name, 7).conversation).toEqual(RECEIVED[name])
    expect(standIns.get(name)?.requests.map((request) => [request.path, vendor.keyOf(request)])).toEqual(
      script(vendor).map(() => [vendor.path, name === 'chat' || name === 'responses' ? 'Bearer sk-planted' : 'sk-planted']),
    )
  })

  test('repeats what was sent byte for byte: in another attempt, in the next step, after the restart', () => {
    for (const attempt of [1, 2, 3]) expect(JSON.stringify(bodyOf(name, attempt))).toBe(JSON.stringify(bodyOf(name, 0)))
    for (const [earlier, later] of [
      [3, 4],
      [4, 5],
      [5, 7],
    ] as const) {
      const [a, b] = [promptOf(name, earlier), promptOf(name, later)]
      expect(JSON.stringify(b.head)).toBe(JSON.stringify(a.head))
      // One vendor wants neighbours of the same role as one message.
      const known = JSON.stringify(a.conversation).replace(name === 'messages' ? /\]\}\]$/ : /\]$/, '')
      expect(JSON.stringify(b.conversation).startsWith(known)).toBe(true)
    }
  })

  test('keeps the last turns and their proofs through a compaction', () => {
    expect(JSON.stringify(bodyOf(name, 8))).toContain('<conversation>')
    const left = (RECEIVED[name] ?? []).slice(-(LEFT[name as keyof typeof LEFT] ?? 0))
    const kept = promptOf(name, 9).conversation
    expect(kept.slice(-left.length + 1)).toEqual(left.slice(1))
    expect(JSON.stringify(kept[0])).toContain('go on')
    const after = JSON.stringify(promptOf(name, 10).conversation)
    expect(after.split('Small again.')).toHaveLength(2)
  })

  test('tells what the cache served', async () => {
    const read = (await server.messages(sessionId())).flatMap(({ info }) => (info.role === 'assistant' ? [info.tokens.cache.read] : []))
    expect(read.slice(0, 2)).toEqual([0, 60])
    const { system, messages: listed } = bodyOf(name, 4)
    const marks = JSON.stringify([system, listed]).match(/"cache_control":\{"type":"ephemeral"\}/g) ?? []
    expect(marks).toHaveLength(name === 'messages' ? 3 : 0)
  })
})

test('the key is in no event, message or log', async () => {
  const seen = await Promise.all([...sessions.values()].map((id) => server.messages(id)))
  expect(JSON.stringify([before, stream.events, seen, server.stderr()])).not.toContain('sk-planted')
})
