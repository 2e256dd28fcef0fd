/** The author library: frames as they go over the wire, and the in-memory host (plugin-protocol §4, §11, §15.2). */
import { describe, expect, test } from 'vitest'
import type { Host } from '../../../src/published/kit/host-calls-types.js'
import { createTestHost, definePlugin } from '../../../src/published/kit/plugin.js'
import type { Plugin } from '../../../src/published/kit/plugin-types.js'
import { createRuntime } from '../../../src/published/kit/runtime.js'
import { LIMITS } from '../../../src/protocol/limits.js'

type Frame = Record<string, unknown>
const OWNER = { pluginId: 'dev.example.demo', instanceId: 'plugin-instance-1', registryGeneration: 3, scope: 'workspace' }
const INITIALIZE = {
  protocol: 'svc-plugin/2',
  pluginId: OWNER.pluginId,
  instanceId: OWNER.instanceId,
  directory: '/p',
  config: {},
  owner: OWNER,
}

/** A plugin on a pipe whose every line is seen. */
function onWire(plugin: Plugin) {
  const sent: Frame[] = []
  const notes: string[] = []
  const looks = new Set<() => void>()
  let hasEnded = false
  const runtime = createRuntime(plugin, {
    async send(line) {
      await Promise.resolve()
      sent.push(JSON.parse(line) as Frame)
      for (const look of looks) look()
    },
    note: (text) => void notes.push(text),
    ended: () => {
      hasEnded = true
    },
  })
  const until = (found: (frame: Frame) => boolean) =>
    new Promise<Frame>((resolve) => {
      const look = () => {
        const frame = sent.find(found)
        if (frame === undefined) return
        looks.delete(look)
        resolve(frame)
      }
      looks.add(look)
      look()
    })
  return {
    sent,
    notes,
    runtime,
    ended: () => hasEnded,
    until,
    async initialize(params: Frame = INITIALIZE) {
      runtime.accept({ id: 1, method: 'initialize', params })
      return until(({ id }) => id === 1)
    },
    reply: (id: number) => until((frame) => frame['id'] === id && frame['method'] === undefined),
  }
}

const tool = (id: string, execute: NonNullable<Plugin['tools']>[number]['execute']) => ({
  id,
  description: '',
  parameters: { type: 'object' },
  execute,
})

describe('initialize', () => {
  test('answers a plugin that offers nothing with every collection, and providers left out', async () => {
    const wire = onWire({ name: 'Demo', version: '1.0' })
    expect(await wire.initialize()).toEqual({
      id: 1,
      result: {
        protocol: 'svc-plugin/2',
        name: 'Demo',
        version: '1.0',
        tools: [],
        hooks: [],
        eventNamespaces: [],
        services: { agents: [], commands: [], skills: [], systemContext: [], prompts: [], config: [] },
        routes: [],
        websocketRoutes: [],
        messageParts: [],
        mcp: [],
      },
    })
  })

  test('passes on output schema and permission of a tool, and derives what a provider can do', async () => {
    const wire = onWire({
      tools: [{ ...tool('t', () => ''), outputSchema: { type: 'string' }, permission: { permission: 'read', argument: 'path' } }],
      services: {
        providers: [{ descriptor: { id: 'p', name: 'P' }, stream: () => [], media: () => ({ mime: '', filename: '', dataBase64: '' }) }],
      },
    })
    const { result } = (await wire.initialize()) as { result: { tools: unknown; services: { providers: unknown } } }
    expect(result.tools).toEqual([
      {
        id: 't',
        description: '',
        parameters: { type: 'object' },
        outputSchema: { type: 'string' },
        permission: { permission: 'read', argument: 'path' },
      },
    ])
    expect(result.services.providers).toEqual([{ descriptor: { id: 'p', name: 'P' }, priority: 0, media: true, administration: false }])
  })

  test('refuses another protocol, and parts that are no functions, with a sentence', async () => {
    expect(await onWire({}).initialize({ ...INITIALIZE, protocol: 'svc-plugin/3' })).toEqual({
      id: 1,
      error: 'this plugin speaks svc-plugin/2, not svc-plugin/3',
    })
    const broken = { tools: [{ id: 'x', description: '', parameters: {} }] } as unknown as Plugin
    expect(await onWire(broken).initialize()).toEqual({ id: 1, error: 'execute of tool "x" is not a function' })
  })

  test('lets the plugin call the host before it answers, with the owner echoed exactly', async () => {
    const wire = onWire({ initialize: async ({ host }) => void (await host.config.get('theme')) })
    wire.runtime.accept({ id: 1, method: 'initialize', params: INITIALIZE })
    expect(await wire.until(({ method }) => method !== undefined)).toEqual({
      id: 1,
      method: 'host.config.get',
      params: { key: 'theme' },
      owner: OWNER,
    })
    expect(wire.sent).toHaveLength(1)
    wire.runtime.accept({ id: 1, result: 'dark' })
    expect(await wire.until((frame) => frame['result'] !== undefined)).toMatchObject({ id: 1, result: { protocol: 'svc-plugin/2' } })
  })

  test('owns itself by the two required fields when the host names no owner', async () => {
    const wire = onWire({ initialize: ({ host }) => void host.config.get('a').catch(() => undefined) })
    const { owner: _, ...params } = INITIALIZE
    wire.runtime.accept({ id: 1, method: 'initialize', params })
    expect(JSON.stringify((await wire.until(({ method }) => method !== undefined))['owner'])).toBe(
      '{"pluginId":"dev.example.demo","instanceId":"plugin-instance-1"}',
    )
  })
})

describe('calls', () => {
  test('run a tool that waits for the host in the middle, and unwrap what a broker answers', async () => {
    const wire = onWire({
      tools: [tool('sign', async (_, { host }) => ({ output: await host.secrets.use('sign-request', { url: 'u' }) }))],
    })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'sign', directory: '/w', input: {} } })
    const request = await wire.until(({ method }) => method === 'host.secret.use')
    expect(request['params']).toEqual({ operation: 'sign-request', input: { url: 'u' } })
    wire.runtime.accept({ id: request['id'], result: { output: { signed: true } } })
    expect(await wire.reply(2)).toEqual({ id: 2, result: { output: '{"signed":true}' } })
  })

  test('answer what is not known with an error: tools, services, routes, methods, and calls before initialize', async () => {
    const wire = onWire({})
    wire.runtime.accept({ id: 9, method: 'tool.invoke', params: {} })
    expect(await wire.reply(9)).toEqual({ id: 9, error: 'tool.invoke came before initialize' })
    await wire.initialize()
    const cases: [string, Frame, string][] = [
      ['tool.invoke', { tool: 'none' }, 'unknown tool none'],
      ['agent.list', { serviceId: 'none' }, 'unknown agents service none'],
      ['route.handle', { routeId: 'none' }, 'unknown route none'],
      ['provider.stream', { serviceId: 'none', streamId: 's', requestId: 1 }, 'unknown provider none'],
      ['toString', {}, 'unknown method toString'],
    ]
    for (const [index, [method, params, error]] of cases.entries()) {
      wire.runtime.accept({ id: 10 + index, method, params })
      expect(await wire.reply(10 + index)).toEqual({ id: 10 + index, error })
    }
  })

  test('abort the signal of a tool on $/cancel, even when as many calls are under way as may be', async () => {
    const aborted: unknown[] = []
    const wait = tool(
      'wait',
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(String(aborted.push(signal))))),
    )
    const wire = onWire({ tools: [wait] })
    await wire.initialize()
    for (let id = 2; id < 2 + LIMITS.plugins.pendingCalls; id++) {
      wire.runtime.accept({ id, method: 'tool.invoke', params: { tool: 'wait', directory: '/', input: {} } })
    }
    wire.runtime.accept({ id: 999, method: 'tool.invoke', params: { tool: 'wait', directory: '/', input: {} } })
    expect(await wire.reply(999)).toEqual({ id: 999, error: 'more than 128 calls at once' })
    wire.runtime.accept({ method: '$/cancel', params: { id: 50 } })
    expect(await wire.reply(50)).toEqual({ id: 50, result: { output: '1' } })
    expect(aborted).toHaveLength(1)
    wire.runtime.accept({ id: null, method: 'shutdown', params: {} })
    await wire.runtime.settled()
    expect([aborted.length, wire.ended()]).toEqual([LIMITS.plugins.pendingCalls, true])
  })

  test('answer an error instead of a frame that is too long or no JSON', async () => {
    const loop: Frame = {}
    loop['self'] = loop
    const wire = onWire({ tools: [tool('long', () => 'x'.repeat(LIMITS.plugins.frameBytes)), tool('loop', () => ({ output: loop }))] })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'long', directory: '/' } })
    wire.runtime.accept({ id: 3, method: 'tool.invoke', params: { tool: 'loop', directory: '/' } })
    expect((await wire.reply(2))['error']).toMatch(/^a frame may have at most 1048576 bytes/)
    expect((await wire.reply(3))['error']).toMatch(/circular/)
  })

  test('reply to shutdown with an id, then say nothing more and refuse the host', async () => {
    let later: Promise<unknown> | undefined
    const slow = tool(
      'slow',
      (_, { host, signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            later = host.config.get('a')
            later.catch(() => undefined)
            resolve('late')
          })
        }),
    )
    const wire = onWire({ tools: [slow] })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'slow', directory: '/' } })
    wire.runtime.accept({ id: 3, method: 'shutdown', params: {} })
    await wire.runtime.settled()
    expect(wire.sent.slice(1)).toEqual([{ id: 3, result: {} }])
    await expect(later).rejects.toThrow('the plugin is shut down')
  })

  test('skip what is no frame', async () => {
    const wire = onWire({})
    for (const junk of [null, 7, 'text', [], {}, { id: 4 }, { method: 'nothing' }, { id: 'x', method: 'tool.invoke' }])
      wire.runtime.accept(junk)
    expect((await wire.initialize())['error']).toBeUndefined()
    expect(wire.notes).toEqual(Array(4).fill('a line that is no frame was skipped'))
  })
})

describe('requests to the host', () => {
  test('may share one signal, however many they are', async () => {
    const stop = new AbortController()
    const ask = async (host: Host, key: number) =>
      host.config.get(String(key), { signal: stop.signal }).catch((error: unknown) => String(error))
    const keys = Array.from({ length: 40 }, (_, key) => key)
    const wire = onWire({ tools: [tool('many', async (_, { host }) => (await Promise.all(keys.map((key) => ask(host, key)))).join())] })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'many', directory: '/' } })
    await wire.until(({ params }) => (params as { key?: string } | undefined)?.key === '39')
    stop.abort(new Error('enough'))
    expect(await wire.reply(2)).toMatchObject({ result: { output: keys.map(() => 'Error: enough').join() } })
  })

  test('end by their signal or their timeout, and ignore the late answer', async () => {
    const stop = new AbortController()
    const wire = onWire({
      tools: [
        tool('signal', async (_, { host }) => String(await host.config.get('a', { signal: stop.signal }))),
        tool('timeout', async (_, { host }) => String(await host.config.get('b', { timeoutMs: 5 }))),
      ],
    })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'signal', directory: '/' } })
    const request = await wire.until(({ method }) => method === 'host.config.get')
    stop.abort(new Error('changed my mind'))
    expect(await wire.reply(2)).toEqual({ id: 2, error: 'changed my mind' })
    wire.runtime.accept({ id: request['id'], result: 'late' })
    wire.runtime.accept({ id: 3, method: 'tool.invoke', params: { tool: 'timeout', directory: '/' } })
    expect(await wire.reply(3)).toEqual({ id: 3, error: 'host.config.get was not answered within 5 ms' })
  })
})

describe('events', () => {
  test('reach the handler one at a time, by prefix, with a null id accepted; what it throws is noted', async () => {
    const seen: string[] = []
    const wire = onWire({
      events: {
        namespaces: ['session.'],
        async handler({ type, sequence, properties }) {
          seen.push(`begin ${type} ${sequence}`)
          await Promise.resolve()
          seen.push(`end ${JSON.stringify(properties)}`)
          if (type === 'session.bad') throw new Error('no')
        },
      },
    })
    await wire.initialize()
    wire.runtime.accept({ id: null, method: 'event', params: { id: 'e1', type: 'session.created', sequence: 5, properties: { a: 1 } } })
    wire.runtime.accept({ method: 'event', params: { id: 'e2', type: 'message.updated', properties: {} } })
    wire.runtime.accept({ method: 'event', params: { id: 'e3', type: 'session.bad', sequence: 7, properties: {} } })
    await wire.runtime.settled()
    expect(seen).toEqual(['begin session.created 5', 'end {"a":1}', 'begin session.bad 7', 'end {}'])
    expect(wire.notes).toEqual([expect.stringMatching(/^the handler of session\.bad failed: Error: no\n +at .*author\.test\.ts:\d+/)])
  })
})

describe('events and calls that arrive together', () => {
  test('a handler that answers no promise has heard of every event before the call, also after one that threw', async () => {
    const heard: number[] = []
    const wire = onWire({
      events: {
        namespaces: [''],
        handler({ sequence }) {
          if (sequence === 2) throw new Error('no')
          heard.push(sequence ?? 0)
        },
      },
      tools: [{ id: 'heard', description: 'x', parameters: { type: 'object' }, execute: () => ({ output: heard.join() }) }],
    })
    await wire.initialize()
    for (const sequence of [1, 2, 3, 4])
      wire.runtime.accept({ method: 'event', params: { id: `e${sequence}`, type: 'session.updated', sequence, properties: {} } })
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'heard', directory: '/', input: {} } })
    expect(await wire.reply(2)).toMatchObject({ result: { output: '1,3,4' } })
  })

  test('behind a handler that waits, calls are answered and only so many events are kept', async () => {
    let resolve: () => void = () => undefined
    const promise = new Promise<void>((go) => {
      resolve = go
    })
    let handled = 0
    const wire = onWire({
      events: {
        namespaces: [''],
        async handler() {
          await promise
          handled++
        },
      },
      tools: [{ id: 'heard', description: 'x', parameters: { type: 'object' }, execute: () => ({ output: String(handled) }) }],
    })
    await wire.initialize()
    const { eventQueue } = LIMITS.plugins
    for (let sequence = 1; sequence <= eventQueue + 3; sequence++)
      wire.runtime.accept({ method: 'event', params: { id: `e${sequence}`, type: 'session.updated', sequence, properties: {} } })
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'heard', directory: '/', input: {} } })
    expect(await wire.reply(2)).toMatchObject({ result: { output: '0' } })
    resolve()
    await wire.runtime.settled()
    expect(handled).toBe(eventQueue + 1)
    expect(wire.notes).toEqual(Array.from({ length: 2 }, () => 'the event session.updated was dropped: too many wait'))
  })
})

describe('what is thrown', () => {
  test('is told with its type, and noted with file, line, traceback and cause', async () => {
    const wire = onWire({
      tools: [
        {
          id: 'broken',
          description: 'x',
          parameters: { type: 'object' },
          execute() {
            throw new RangeError('too many', { cause: new Error('the disk') })
          },
        },
      ],
    })
    await wire.initialize()
    wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'broken', directory: '/', input: {} } })
    expect(await wire.reply(2)).toEqual({ id: 2, error: 'RangeError: too many' })
    const [note] = wire.notes
    expect(note).toMatch(/^tool\.invoke broken failed: RangeError: too many\n +at .*author\.test\.ts:\d+/)
    expect(note).toMatch(/\ncaused by Error: the disk\n +at .*author\.test\.ts:\d+/)
  })
})

describe('streams', () => {
  const provider = (stream: NonNullable<NonNullable<Plugin['services']>['providers']>[number]['stream']): Plugin => ({
    services: { providers: [{ descriptor: { id: 'p', name: 'P' }, stream }] },
  })
  const begin = { id: 2, method: 'provider.stream', params: { serviceId: 'p', streamId: 's-1', requestId: 1, request: {} } }
  const frame = (stream: Frame) => ({ owner: OWNER, requestId: 1, stream: { ...stream, streamId: 's-1' } })

  test('are accepted, opened, filled and ended, each frame with owner and request id', async () => {
    const wire = onWire(provider(() => [{ type: 'start' }, { type: 'text-delta', id: 't', delta: 'hi' }]))
    await wire.initialize()
    wire.runtime.accept(begin)
    await wire.until(({ stream }) => (stream as Frame | undefined)?.['kind'] === 'end')
    expect(wire.sent.slice(1)).toEqual([
      { id: 2, result: {} },
      frame({ kind: 'open' }),
      frame({ kind: 'item', value: { type: 'start' } }),
      frame({ kind: 'item', value: { type: 'text-delta', id: 't', delta: 'hi' } }),
      frame({ kind: 'end' }),
    ])
  })

  test('end with an error when the iterator fails or an item is too large', async () => {
    const failing = onWire(
      provider(async function* () {
        yield { type: 'start' as const }
        throw new Error('model gone')
      }),
    )
    await failing.initialize()
    failing.runtime.accept(begin)
    await failing.until(({ stream }) => (stream as Frame | undefined)?.['kind'] === 'error')
    expect(failing.sent.at(-1)).toEqual(frame({ kind: 'error', error: 'model gone' }))
    const large = onWire(provider(() => [{ type: 'error', message: 'x'.repeat(LIMITS.plugins.streamItemBytes) }]))
    await large.initialize()
    large.runtime.accept(begin)
    const last = await large.until(({ stream }) => (stream as Frame | undefined)?.['kind'] === 'error')
    expect((last['stream'] as Frame)['error']).toMatch(/^an item may have at most 262144 bytes/)
  })

  test('stop without a last frame when cancelled, and return the iterator', async () => {
    let returned = false
    let signal: AbortSignal | undefined
    const wire = onWire(
      provider(async function* (_, context) {
        signal = context.signal
        try {
          yield { type: 'start' as const }
          await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
        } finally {
          returned = true
        }
      }),
    )
    await wire.initialize()
    wire.runtime.accept(begin)
    await wire.until(({ stream }) => (stream as Frame | undefined)?.['kind'] === 'item')
    wire.runtime.accept({ method: '$/cancelStream', params: { streamId: 's-1', requestId: 1 } })
    await new Promise(setImmediate)
    expect([signal?.aborted, returned, (wire.sent.at(-1)?.['stream'] as Frame | undefined)?.['kind']]).toEqual([true, true, 'item'])
  })
})

describe('the host for tests', () => {
  const plugin = definePlugin({
    tools: [
      {
        ...tool('read_note', async (input: { name: string }, { host, directory }) => {
          const text = new TextDecoder().decode(await host.workspace.read(input.name))
          return { title: directory, output: text, metadata: { length: text.length } }
        }),
      },
      tool('wait', (_, { signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('')))),
    ],
    hooks: { 'shell.env': (_, value) => ({ ...(value as object), NOTE: '1' }) },
    services: { systemContext: [{ id: 'notes', handler: ({ directory }) => [{ id: 'n', title: null, content: String(directory) }] }] },
    routes: [
      {
        descriptor: { id: 'hello', method: 'GET', path: '/hello/:name', scope: 'workspace' },
        handle: ({ path }) => ({ status: 200, body: { hello: path['name'] } }),
      },
    ],
    websocketRoutes: [
      {
        descriptor: { id: 'echo', method: 'GET', path: '/echo', scope: 'workspace' },
        open() {
          const messages: string[] = []
          let wake = () => {}
          return {
            outbound: (async function* () {
              for (;;) {
                const data = messages.shift()
                if (data === 'stop') return
                if (data === undefined) await new Promise<void>((resolve) => (wake = resolve))
                else yield { kind: 'text' as const, data }
              }
            })(),
            message(message) {
              messages.push(message.kind === 'text' ? message.data : 'stop')
              wake()
            },
          }
        },
      },
    ],
  })

  test.each([
    [42, 'the tool "odd" returned 42, which is no result: return a text, or an object with "output"'],
    [{ text: 'x' }, 'the tool "odd" returned {"text":"x"}, which is no result'],
    [() => 'x', 'the tool "odd" returned a function, which is no result'],
  ])('a tool that returns %j fails, and says so', async (answer, message) => {
    const plugin = definePlugin({
      name: 'odd',
      version: '1.0.0',
      tools: [{ id: 'odd', description: 'd', parameters: {}, execute: () => answer as never }],
    })
    const host = await createTestHost(plugin)
    await expect(host.callTool('odd')).rejects.toThrow(message)
    await host.shutdown()
  })

  test.each([[undefined], [null]])('a tool that returns %s has nothing to say', async (answer) => {
    const plugin = definePlugin({
      name: 'odd',
      version: '1.0.0',
      tools: [{ id: 'odd', description: 'd', parameters: {}, execute: () => answer as never }],
    })
    const host = await createTestHost(plugin)
    expect(await host.callTool('odd')).toEqual({ output: '' })
    await host.shutdown()
  })

  test('calls tools, hooks, services and routes as svc does, and records what the plugin asked', async () => {
    const host = await createTestHost(plugin, { directory: '/w', answers: { 'host.workspace.read': () => 'buy milk' } })
    expect(await host.callTool('read_note', { name: 'a.md' }, { directory: '/w/sub' })).toEqual({
      title: '/w/sub',
      output: 'buy milk',
      metadata: { length: 8 },
    })
    expect(host.requests).toEqual([{ method: 'host.workspace.read', params: { path: 'a.md' } }])
    expect(await host.runHook('shell.env', {}, { A: '1' })).toEqual({ A: '1', NOTE: '1' })
    expect(await host.runHook('tool.before', {}, 'same')).toBe('same')
    expect(await host.callService('systemContext', 'notes')).toEqual([{ id: 'n', title: null, content: '/w' }])
    expect(await host.callRoute('hello', { path: { name: 'you' } })).toEqual({ status: 200, headers: {}, body: { hello: 'you' } })
    host.answer('host.workspace.read', () => Promise.reject(new Error('no such file')))
    await expect(host.callTool('read_note', { name: 'b.md' })).rejects.toThrow('no such file')
  })

  test('takes from a test what brokers answer, and says so where that is something else', async () => {
    const asking = definePlugin({
      tools: [
        {
          id: 'ask',
          description: 'd',
          parameters: { type: 'object' },
          execute: async (_input, { host }) => ({ output: String((await host.network.call('fetch', { url: 'https://a' })).status) }),
        },
      ],
    })
    const host = await createTestHost(asking, { answers: { 'host.network.request': () => ({ output: { status: 200 } }) } })
    expect(await host.callTool('ask')).toEqual({ output: '200' })
    host.answer('host.network.request', () => ({ status: 200 }))
    await expect(host.callTool('ask')).rejects.toThrow('which answers { output: … }')
    expect(host.notes.at(-1), 'the line that asked').toMatch(/\n +at .*author\.test\.ts:\d+/)
  })

  test('refuses what it has no answer for, cancels by signal, and ends', async () => {
    const host = await createTestHost(plugin)
    await expect(host.callTool('read_note', { name: 'a' })).rejects.toThrow('host.workspace.read is not available')
    const stop = new AbortController()
    const call = host.callTool('wait', {}, { signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    await host.shutdown()
    await host.shutdown()
    await expect(host.callTool('wait')).rejects.toThrow('the plugin has ended')
  })

  test('holds a socket: messages both ways, in order, until one side closes', async () => {
    const host = await createTestHost(plugin)
    const socket = await host.openSocket('echo')
    await socket.send({ kind: 'text', data: 'one' })
    await socket.send({ kind: 'text', data: 'two' })
    const seen: unknown[] = []
    for await (const message of socket.outbound) {
      seen.push(message)
      if (seen.length === 2) await socket.close()
    }
    expect(seen).toEqual([
      { kind: 'text', data: 'one' },
      { kind: 'text', data: 'two' },
    ])
  })

  test('streams a provider, and cancels it when the reader leaves', async () => {
    let closed = false
    const host = await createTestHost({
      services: {
        providers: [
          {
            descriptor: { id: 'p', name: 'P' },
            async *stream() {
              try {
                for (let index = 0; ; index++) yield { type: 'text-delta' as const, id: 't', delta: String(index) }
              } finally {
                closed = true
              }
            },
          },
        ],
      },
    })
    const deltas: unknown[] = []
    for await (const item of host.streamProvider('p', {})) {
      deltas.push((item as { delta: string }).delta)
      if (deltas.length === 3) break
    }
    await new Promise(setImmediate)
    expect([deltas, closed]).toEqual([['0', '1', '2'], true])
  })
})

test('a tool knows its message and call, says how far it is, and gives files', async () => {
  const bytes = new TextEncoder().encode('hi')
  const plugin = definePlugin({
    tools: [
      {
        id: 'work',
        description: 'Works.',
        parameters: { type: 'object' },
        execute(_input, { messageId, callId, progress }) {
          progress({ done: 0.5 })
          return { output: `${messageId} ${callId}`, attachments: [{ mime: 'text/plain', filename: 'a.txt', data: bytes }] }
        },
      },
    ],
  })
  const host = await createTestHost(plugin)
  expect(await host.callTool('work', {}, { messageId: 'm', callId: 'c' })).toEqual({
    output: 'm c',
    attachments: [{ mime: 'text/plain', filename: 'a.txt', dataBase64: 'aGk=' }],
  })
  expect([host.progress, host.requests]).toEqual([[{ done: 0.5 }], []])
  const wire = onWire(plugin)
  await wire.initialize()
  wire.runtime.accept({ id: 2, method: 'tool.invoke', params: { tool: 'work', directory: '/w', input: {} } })
  await wire.reply(2)
  expect(wire.sent[1]).toEqual({ method: 'host.tool.progress', params: { id: 2, metadata: { done: 0.5 } }, owner: OWNER })
})
