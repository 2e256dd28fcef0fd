// Holds plugin-protocol §6.7, §13-10.
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endSandboxes, loadedSandbox, OWNER, removeSandboxFiles, type Sandbox } from '../../fixtures/lua-sandbox.js'

afterEach(endSandboxes)
afterAll(removeSandboxFiles)

const STREAM = { streamId: 'plugin-instance-1-stream-3', requestId: 3 }

function streamed(sandbox: Sandbox, streamId = STREAM.streamId) {
  return sandbox.frames.flatMap(({ stream }) => (stream?.streamId === streamId ? [stream] : []))
}

const ended = (sandbox: Sandbox, streamId = STREAM.streamId) =>
  sandbox.frame(({ stream }) => stream?.streamId === streamId && (stream.kind === 'end' || stream.kind === 'error'))

const provider = (body: string) =>
  loadedSandbox(`return { services = { providers = { { descriptor = { id = "llm" }, stream = function(p) ${body} end } } } }`)

const generate = (sandbox: Sandbox) =>
  sandbox.call('provider.stream', { serviceId: 'llm', ...STREAM, request: { messages: [{ role: 'user', content: 'hi' }] } })

describe('a provider stream', () => {
  it('is accepted, opened, filled and ended, as the owner of the instance', async () => {
    const sandbox = await provider(
      'return { { type = "text-delta", id = p.serviceId, delta = p.request.messages[1].content }, { type = "finish", usage = {} } }',
    )
    expect(await generate(sandbox)).toMatchObject({ result: {} })
    await ended(sandbox)
    expect(sandbox.frames.slice(-4)).toEqual([
      { owner: OWNER, requestId: 3, stream: { kind: 'open', streamId: STREAM.streamId } },
      {
        owner: OWNER,
        requestId: 3,
        stream: { kind: 'item', streamId: STREAM.streamId, value: { type: 'text-delta', id: 'llm', delta: 'hi' } },
      },
      { owner: OWNER, requestId: 3, stream: { kind: 'item', streamId: STREAM.streamId, value: { type: 'finish', usage: {} } } },
      { owner: OWNER, requestId: 3, stream: { kind: 'end', streamId: STREAM.streamId } },
    ])
    expect(sandbox.frames.at(-5)).toEqual({ id: 2, result: {} })
  })

  it('may be empty', async () => {
    const sandbox = await provider('return {}')
    await generate(sandbox)
    await ended(sandbox)
    expect(streamed(sandbox).map(({ kind }) => kind)).toEqual(['open', 'end'])
  })

  it.each([
    ['the callback fails', 'error("no model", 0)', 'no model'],
    ['it is nothing', '', 'the callback must return an array of items'],
    ['it is no array', 'return { type = "start" }', 'the callback must return an array of items'],
    ['it has 4097 items', 'local t = {}; for i = 1, 4097 do t[i] = {} end; return t', 'the callback returned more than 4096 items'],
    ['an item cannot become JSON', 'return { { a = 1 }, { b = print } }', 'a function cannot become JSON (at b)'],
  ])('is refused without a frame when %s', async (_, body, error) => {
    const sandbox = await provider(body)
    expect(await generate(sandbox)).toMatchObject({ error })
    await sandbox.call('none')
    expect(streamed(sandbox)).toEqual([])
  })

  it('leaves all of 4096 items in order and in portions', async () => {
    const sandbox = await provider('local t = {}; for i = 1, 4096 do t[i] = i end; return t')
    await generate(sandbox)
    await ended(sandbox)
    expect(streamed(sandbox).map(({ kind, value }) => value ?? kind)).toEqual([
      'open',
      ...Array.from({ length: 4096 }, (_, index) => index + 1),
      'end',
    ])
  })

  it('ends with an error at an item that is too large, after those before it', async () => {
    const sandbox = await provider('return { "a", ("x"):rep(262144), "b" }')
    await generate(sandbox)
    await ended(sandbox)
    expect(streamed(sandbox)).toEqual([
      { kind: 'open', streamId: STREAM.streamId },
      { kind: 'item', streamId: STREAM.streamId, value: 'a' },
      { kind: 'error', streamId: STREAM.streamId, error: 'item 2 takes more than 262144 bytes' },
    ])
  })

  it('ends with an error when the items together are too large', async () => {
    const sandbox = await provider('local x = ("x"):rep(200000); local t = {}; for i = 1, 100 do t[i] = x end; return t')
    await generate(sandbox)
    expect((await ended(sandbox)).stream).toMatchObject({ kind: 'error', error: 'the items take more than 16777216 bytes' })
    expect(streamed(sandbox).length).toBeLessThan(90)
  })

  it('stops when the host cancels it, while other calls are served', async () => {
    const sandbox = await loadedSandbox(`return {
      tools = { { id = "t", execute = function() return 1 end } },
      services = { providers = { { descriptor = { id = "llm" }, stream = function(p) local t = {}; for i = 1, 4096 do t[i] = ("x"):rep(100) end; return t end } } } }`)
    void generate(sandbox)
    await sandbox.frame(({ stream }) => stream?.kind === 'item')
    sandbox.send({ method: '$/cancelStream', params: STREAM })
    expect(await sandbox.tool('t')).toMatchObject({ result: 1 })
    expect(await sandbox.tool('t')).toMatchObject({ result: 1 })
    expect(streamed(sandbox).length).toBeLessThan(4097)
    expect(streamed(sandbox).at(-1)?.kind).toBe('item')
  })
})

describe('a WebSocket', () => {
  const route = (callbacks: string) => loadedSandbox(`return { websocketRoutes = { { descriptor = { id = "w" }, ${callbacks} } } }`)
  const open = (sandbox: Sandbox, stream = STREAM) =>
    sandbox.call('route.websocket.open', { routeId: 'w', ...stream, request: { query: { room: ['r1'] } } })
  const say = (sandbox: Sandbox, message: object) =>
    sandbox.send({ method: 'route.websocket.message', params: { streamId: STREAM.streamId, message } })
  const texts = (sandbox: Sandbox) => streamed(sandbox).map(({ kind, value, error }) => error ?? value?.data ?? value?.kind ?? kind)

  const CHAT = `
    open = function(r) return { { kind = "text", data = "welcome to " .. r.query.room[1] } } end,
    message = function(m)
      if m.kind == "close" then return nil end
      if m.data == "fail" then error("no", 0) end
      if m.data == "bad" then return 5 end
      if m.data == "bytes" then return { { kind = "binary", data = {} }, { kind = "binary", data = { 1, 2 } } } end
      return { { kind = "text", data = m.data }, { kind = "text", data = m.data .. "!" } }
    end`

  it('greets, answers each message in order, stays open, and ends after the close of the client', async () => {
    const sandbox = await route(CHAT)
    expect(await open(sandbox)).toMatchObject({ result: {} })
    say(sandbox, { kind: 'text', data: 'a' })
    expect(
      await sandbox.call('route.websocket.message', { streamId: STREAM.streamId, message: { kind: 'text', data: 'bytes' } }),
    ).toMatchObject({ result: {} })
    say(sandbox, { kind: 'close' })
    await ended(sandbox)
    expect(texts(sandbox)).toEqual(['open', 'welcome to r1', 'a', 'a!', [], [1, 2], 'end'])
    expect((await sandbox.call('route.websocket.message', { streamId: STREAM.streamId, message: { kind: 'text', data: 'x' } })).error).toBe(
      'unknown stream',
    )
  })

  it.each([
    ['its callback fails', 'fail', 'no'],
    ['its result is no list', 'bad', 'the callback must return an array of messages'],
  ])('is ended with an error, and the process lives on, when %s', async (_, data, error) => {
    const sandbox = await route(CHAT)
    await open(sandbox)
    say(sandbox, { kind: 'text', data })
    expect((await ended(sandbox)).stream?.error).toBe(error)
    const again = { streamId: 'plugin-instance-1-stream-4', requestId: 4 }
    expect(await open(sandbox, again)).toMatchObject({ result: {} })
  })

  it.each([
    ['fails', 'error("closed", 0)', 'closed'],
    ['returns a string', 'return "x"', 'the callback must return an array of messages'],
  ])('is refused with an error reply when open %s', async (_, body, error) => {
    const sandbox = await route(`open = function() ${body} end`)
    expect(await open(sandbox)).toMatchObject({ error })
    await sandbox.call('none')
    expect(streamed(sandbox)).toEqual([])
  })

  it('needs neither a greeting nor a message callback', async () => {
    const sandbox = await route('open = function() end')
    await open(sandbox)
    say(sandbox, { kind: 'text', data: 'x' })
    say(sandbox, { kind: 'close' })
    await ended(sandbox)
    expect(texts(sandbox)).toEqual(['open', 'end'])
  })

  it('is forgotten when the host cancels it', async () => {
    const sandbox = await route(CHAT)
    await open(sandbox)
    sandbox.send({ method: '$/cancelStream', params: STREAM })
    say(sandbox, { kind: 'text', data: 'x' })
    await sandbox.call('none')
    expect(texts(sandbox)).toEqual(['open', 'welcome to r1'])
  })
})
