// Holds plugin-protocol §4.5, §4.6, §5.1.
import { describe, expect, test } from 'vitest'
import type { PluginSocket } from '../../../src/ports/contributions.js'
import { createServedSessions } from '../../../src/actors/plugin/brokers/served-sessions.js'
import { createEventSender } from '../../../src/actors/plugin/process/external-events.js'
import type { ExternalProvider } from '../../../src/actors/plugin/process/external-provider.js'
import { toContributions, uncalledHooks } from '../../../src/actors/plugin/process/external.js'
import { toolResult } from '../../../src/actors/plugin/process/external-tools.js'
import { parseInitializeReply } from '../../../src/actors/plugin/link/initialize.js'
import type { GenerateRequest, StreamPart } from '../../../src/ports/provider-adapter.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { RouteRequest } from '../../../src/protocol/plugin/plugin-requests.js'
import { OWNER, type PlayedLink, playLink } from './played-link.js'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
const never = new AbortController().signal

function contribute(reply: object) {
  const played = playLink()
  const events = createEventSender({ link: played.link, clock: played.clock, onProblem: () => undefined })
  const parsed = parseInitializeReply({ protocol: 'svc-plugin/2', ...reply })
  const { link, clock } = played
  const parts = { pluginId: OWNER.pluginId, link, clock, events, served: createServedSessions(clock), capabilities: new Set<never>() }
  const contributions = toContributions(parsed, parts)
  return { ...played, played, contributions }
}

function part(played: PlayedLink, kind: string, rest: object = {}) {
  played.plugin({ owner: OWNER, requestId: 1, stream: { kind, streamId: `${OWNER.instanceId}-stream-1`, ...rest } })
}

describe('the result of a tool', () => {
  test.each<[unknown, object]>([
    [
      { title: 'T', output: 'x', metadata: { a: 1 } },
      { title: 'T', output: 'x', metadata: { a: 1 } },
    ],
    [
      { title: 5, output: { a: [1] } },
      { title: 'tool', output: '{\n  "a": [\n    1\n  ]\n}' },
    ],
    [
      { output: 0, metadata: 'm' },
      { title: 'tool', output: '0', metadata: { value: 'm' } },
    ],
    [{}, { title: 'tool', output: '' }],
    [null, { title: 'tool', output: '' }],
  ])('%j', (reply, result) => {
    expect(toolResult('tool', reply)).toEqual(result)
  })

  test('is refused when it is no object', () => {
    const wanted = 'which is no result: it is an object with "output"'
    expect(() => toolResult('tool', 'text')).toThrow(`answered the text "text", ${wanted}`)
    expect(() => toolResult('tool', [1])).toThrow(`answered a list, ${wanted}`)
    expect(() => toolResult('tool', { text: 'x', ok: true })).toThrow(`answered an object with text, ok, ${wanted}`)
  })
})

describe('a tool', () => {
  test('whose parameters are no schema fails the whole plugin', () => {
    const tools = [{ id: 'x', description: '', parameters: { type: 'strng' } }]
    expect(() => contribute({ tools })).toThrow('The parameters of the tool "x" are no JSON Schema: #: "strng" is no type.')
  })
})

describe('events', () => {
  test.each<[object, readonly string[] | undefined]>([
    [{ hooks: ['event'], eventNamespaces: ['a.'] }, ['']],
    [{ eventNamespaces: ['a.', 'b.'] }, ['a.', 'b.']],
    [{ hooks: ['tool.before'] }, undefined],
  ])('of %j', (reply, namespaces) => {
    const { contributions } = contribute(reply)
    expect(contributions.events?.namespaces).toEqual(namespaces)
    expect(Object.keys(contributions.hooks ?? {})).not.toContain('event')
  })
})

describe('an answer of a service that has another shape', () => {
  test('is an error that names the method and the place', async () => {
    const { contributions, plugin } = contribute({ services: { skills: [{ id: 's' }] } })
    const call = contributions.skills?.[0]?.call({ workspaceId: null, directory: null, options: {} })
    plugin({ id: 1, result: [{ id: 's', name: 1 }] })
    await expect(call).rejects.toThrow("The plugin's answer to skill.list is not valid: 0.name")
  })
})

describe('a provider', () => {
  const request: GenerateRequest = {
    sessionId: 'ses_1',
    directory: '/project/place',
    model: { providerId: 'p', id: 'm', variant: 'high' },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [{ id: 'read', description: 'Reads.', parameters: { type: 'object' } }],
    options: { textVerbosity: 'low', a: 1 },
    maxOutputTokens: 10,
    headers: { 'x-b': '2' },
  }
  const provide = (flags: object = {}) => {
    const made = contribute({ services: { providers: [{ descriptor: { id: 'p' }, ...flags }] } })
    // The contributions of a process carry the other methods of its providers, too.
    const provider = made.contributions.providers?.[0] as ExternalProvider
    const parts: StreamPart[] = []
    const generate = (signal = never) =>
      provider
        .create({
          providerId: 'p',
          npm: 'p',
          baseURL: undefined,
          apiKey: () => undefined,
          headers: { 'x-a': '1' },
          options: {},
          compatibility: { streamUsage: false, reasoningEffort: false },
        })
        .generate(request, (one) => parts.push(one), signal)
    return { ...made, provider, parts, generate }
  }

  test('is sent the conversation without empty collections', async () => {
    const { generate, sent, played, parts } = provide()
    const done = generate()
    expect(sent[0]).toEqual({
      id: 1,
      method: 'provider.stream',
      params: {
        serviceId: 'p',
        streamId: 'plugin-instance-7-stream-1',
        requestId: 1,
        request: {
          providerId: 'p',
          modelId: 'm',
          workspaceId: '/project/place',
          sessionId: 'ses_1',
          variant: 'high',
          textVerbosity: 'low',
          messages: [{ role: 'user', content: 'hi' }],
          tools: [{ id: 'read', description: 'Reads.', parameters: { type: 'object' } }],
          options: { a: 1, maxOutputTokens: 10 },
          headers: { 'x-a': '1', 'x-b': '2' },
        },
      },
    })
    part(played, 'open')
    part(played, 'item', { value: { type: 'finish', finish: 'stop' } })
    part(played, 'end')
    await done
    expect(parts).toMatchObject([{ type: 'finish', reason: 'stop' }])
    expect(played.clock.pendingTimers).toBe(1) // the opening call has not been answered yet
  })

  test('that is aborted is cancelled and pushes nothing more', async () => {
    const { generate, sent, played, parts } = provide()
    const stop = new AbortController()
    const done = generate(stop.signal)
    part(played, 'open')
    part(played, 'item', { value: { type: 'text-delta', id: 't', delta: 'a' } })
    await settle()
    stop.abort(new Error('stopped'))
    part(played, 'item', { value: { type: 'text-delta', id: 't', delta: 'b' } })
    await expect(done).rejects.toThrow('stopped')
    expect(parts).toEqual([{ type: 'text', delta: 'a' }])
    expect(sent.map(({ method }) => method)).toEqual(['provider.stream', '$/cancelStream', '$/cancel'])
    expect(played.clock.pendingTimers).toBe(0)
  })

  test('that falls silent is given up and may be tried again', async () => {
    const { generate, sent, played } = provide()
    const done = generate().catch((error: unknown) => error)
    played.plugin({ id: 1, result: {} })
    part(played, 'open')
    part(played, 'item', { value: { type: 'text-delta', id: 't', delta: 'a' } })
    await played.clock.advanceAsync(120_000)
    expect(await done).toMatchObject({ name: 'ProviderError', retryable: true, message: 'Provider "p" was silent for 120000 ms.' })
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
  })

  test('that goes on after its last part is cut off', async () => {
    const { generate, sent, played } = provide()
    const done = generate()
    part(played, 'open')
    part(played, 'item', { value: { type: 'finish', finish: 'stop' } })
    await played.clock.advanceAsync(2000)
    await done
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
  })

  test('that sends an unknown event is cancelled with an error', async () => {
    const { generate, sent, played } = provide()
    const done = generate().catch((error: unknown) => error)
    part(played, 'open')
    part(played, 'item', { value: { type: 'odd' } })
    expect(await done).toMatchObject({ name: 'ProviderError', message: 'Provider "p" sent something that is no stream event.' })
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
  })

  test('has its other methods, and administration and media only when it declares them', async () => {
    const plain = provide()
    expect([plain.provider.administration, plain.provider.media]).toEqual([undefined, undefined])
    const { provider, plugin, sent } = provide({ media: true, administration: true })
    const metadata = provider.metadata({ providerId: 'p', modelId: 'm' })
    const auth = provider.administration?.credential()
    plugin({ id: 1, result: { limit: null } }, { id: 2, result: null })
    expect(await Promise.all([metadata, auth])).toEqual([{ limit: null }, null])
    const ask = {
      kind: 'image' as const,
      providerId: 'p',
      modelId: 'm',
      connectionId: null,
      tenantId: null,
      workspaceId: null,
      prompt: 'a cat',
      options: {},
    }
    const good = provider.media?.(ask)
    expect(sent.at(-1)).toEqual({ id: 3, method: 'provider.media', params: { serviceId: 'p', ...ask } })
    const wrong = provider.media?.(ask)
    const file = { mime: 'image/png', filename: 'a.png', revisedPrompt: null }
    plugin({ id: 3, result: { ...file, dataBase64: 'aGk=' } }, { id: 4, result: { ...file, dataBase64: 'aGk' } })
    expect(await good).toMatchObject({ dataBase64: 'aGk=' })
    await expect(wrong).rejects.toThrow('base64 with padding')
  })
})

describe('a socket', () => {
  const request: RouteRequest = {
    tenantId: null,
    hosted: false,
    workspaceId: null,
    workspace: '/w',
    sessionId: null,
    actor: null,
    path: {},
    query: {},
    headers: {},
    body: 'never sent',
  }
  const setUp = (signal = never) => {
    const made = contribute({ websocketRoutes: [{ descriptor: { id: 'chat', method: 'GET', path: '/chat', scope: 'workspace' } }] })
    const opening = made.contributions.websocketRoutes?.[0]?.open(request, signal)
    return { ...made, opening: opening ?? Promise.reject(new Error('no route')) }
  }
  const open = async (signal = never) => {
    const made = setUp(signal)
    made.plugin({ id: 1, result: {} })
    part(made.played, 'open')
    return { ...made, socket: await made.opening }
  }
  const collect = async (socket: PluginSocket) => {
    const seen: unknown[] = []
    try {
      for await (const message of socket.outbound) seen.push(message)
    } catch (error) {
      seen.push(String(error))
    }
    return seen
  }

  test('is asked for without a body, and refused with the reason of the plugin', async () => {
    const { sent, plugin, opening } = setUp()
    expect(sent[0]).toMatchObject({
      method: 'route.websocket.open',
      params: { routeId: 'chat', requestId: 1, request: { ...request, body: null } },
    })
    plugin({ id: 1, error: 'not today' })
    await expect(opening).rejects.toThrow('not today')
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
  })

  test('carries messages both ways; the plugin hears once of the end of the client, and may end the stream itself', async () => {
    const { socket, sent, played, clock } = await open()
    const seen = collect(socket)
    part(played, 'item', { value: { kind: 'text', data: 'hi' } })
    part(played, 'item', { value: { kind: 'binary', data: {} } })
    await settle()
    socket.receive({ kind: 'binary', data: [1] })
    socket.receive({ kind: 'close' })
    socket.close()
    socket.close()
    socket.receive({ kind: 'text', data: 'late' })
    part(played, 'item', { value: { kind: 'text', data: 'said to nobody' } })
    part(played, 'end')
    expect(await seen).toEqual([
      { kind: 'text', data: 'hi' },
      { kind: 'binary', data: [] },
    ])
    const streamId = 'plugin-instance-7-stream-1'
    expect(sent.slice(1)).toEqual([
      { method: 'route.websocket.message', params: { streamId, message: { kind: 'binary', data: [1] } } },
      { method: 'route.websocket.message', params: { streamId, message: { kind: 'close' } } },
    ])
    expect(clock.pendingTimers).toBe(0)
  })

  test('is cancelled when the plugin does not end it in time, however much it says', async () => {
    const { socket, sent, played, clock } = await open()
    const seen = collect(socket)
    socket.close()
    for (let round = 0; round < 200; round++) {
      part(played, 'item', { value: { kind: 'text', data: 'on and on' } })
      await settle()
    }
    expect(sent.at(-1)).toMatchObject({ params: { message: { kind: 'close' } } })
    clock.advance(LIMITS.plugins.socketClose)
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
    expect(await seen).toEqual([])
  })

  test('is read to its end for nobody when the reader leaves before the client is gone', async () => {
    const { socket, sent, played } = await open()
    part(played, 'item', { value: { kind: 'text', data: 'hi' } })
    for await (const message of socket.outbound) {
      expect(message).toEqual({ kind: 'text', data: 'hi' })
      break
    }
    expect(sent.at(-1)).toMatchObject({ params: { message: { kind: 'close' } } })
    part(played, 'item', { value: { kind: 'text', data: 'still here' } })
    part(played, 'end')
    await settle()
    expect(played.problems).toEqual([])
    expect(sent.at(-1)).toMatchObject({ params: { message: { kind: 'close' } } })
  })

  test('is given up with the request that opens it, and outlives that request', async () => {
    const gone = new AbortController()
    const { sent, opening } = setUp(gone.signal)
    gone.abort(new Error('gone'))
    await expect(opening).rejects.toThrow('gone')
    expect(sent.slice(1).map(({ method }) => method)).toEqual(['$/cancelStream', '$/cancel'])
    const left = new AbortController()
    const late = await open(left.signal)
    left.abort()
    late.socket.close()
    expect(late.sent.slice(1)).toMatchObject([{ method: 'route.websocket.message', params: { message: { kind: 'close' } } }])
  })

  test('is cancelled at once when the plugin closes it', async () => {
    const { socket, sent, played } = await open()
    part(played, 'item', { value: { kind: 'close' } })
    expect(await collect(socket)).toEqual([{ kind: 'close' }])
    socket.close()
    expect(sent.slice(1)).toMatchObject([{ method: '$/cancelStream' }])
  })

  test('ends with an error when the plugin sends what is no message', async () => {
    const { socket, sent, played } = await open()
    part(played, 'item', { value: { kind: 'text' } })
    expect(await collect(socket)).toEqual([expect.stringContaining('no socket message')])
    expect(sent.at(-1)).toMatchObject({ method: '$/cancelStream' })
    expect(played.problems).toMatchObject([{ code: 'malformed-frame' }])
  })

  test('ends with an error when a message does not fit a frame or the plugin does not read', async () => {
    const large = await open()
    large.socket.receive({ kind: 'text', data: 'x'.repeat(1024 * 1024) })
    expect(await collect(large.socket)).toEqual([expect.stringContaining('does not fit in one frame')])
    const slow = await open()
    slow.setWaiting(2 * 1024 * 1024)
    slow.socket.receive({ kind: 'text', data: 'x' })
    expect(await collect(slow.socket)).toEqual([expect.stringContaining('does not read')])
    expect(slow.failures).toEqual([])
  })
})

test.each([
  [['tool.before', 'event'], undefined],
  [['tool.bfore'], 'The hook "tool.bfore" is never called; did you mean "tool.before"?'],
  [
    ['mine', 'other'],
    expect.stringMatching(/^The hook "mine" is never called \(nor 1 others of this plugin\); hooks are chat\.messages, .*, event$/),
  ],
])('of declared hooks %j those that nobody calls are told', (hooks, told) => {
  expect(uncalledHooks({ hooks })).toEqual(told)
})
