// Holds sessions-events §11.2, §11.6, §12.3.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { FrameSink, System } from '../../src/ports/facades.js'
import type { HttpServer, HttpServerOptions } from '../../src/http/server.js'
import { API } from '../../src/protocol/api.js'
import { SvcError } from '../../src/protocol/errors.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import type { FakeRuntime } from '../fakes/runtime.js'
import { BEARER, TOKEN, createTestServer, withToken } from './setup.js'

const STREAMS = API.filter(({ success }) => success.mediaType === 'text/event-stream')
const frame = (text: string) => new TextEncoder().encode(`data: ${text}\n\n`)
const open: { server: HttpServer; sockets: Socket[] }[] = []

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy()
    await server.close(0)
  }
})

interface Bench {
  readonly server: HttpServer
  readonly runtime: FakeRuntime
  readonly clock: ReturnType<typeof createFakeClock>
  readonly port: number
  /** Sinks handed to the facade, oldest first. */
  readonly sinks: FrameSink[]
  /** Resolves once that many subscriptions were closed by the server, with how they were. */
  closed(count: number): Promise<readonly (string | undefined)[]>
  read(path?: string, headers?: string[]): Promise<Reader>
}

interface Reader {
  readonly socket: Socket
  /** Chunks of the body as they came. */
  readonly chunks: string[]
  head(): string
  /** Resolves once the body contains a text. */
  until(text: string): Promise<string>
  readonly ended: Promise<string>
}

async function bench(
  options: Partial<HttpServerOptions> = {},
  onSubscribe: (sink: FrameSink) => void = () => undefined,
  system: Partial<System> = {},
): Promise<Bench> {
  const sinks: FrameSink[] = []
  const clock = createFakeClock()
  const ends: (string | undefined)[] = []
  let wake: () => void = () => undefined
  const subscribe = (sink: FrameSink) => {
    sinks.push(sink)
    onSubscribe(sink)
    return {
      close(how?: string) {
        ends.push(how)
        wake()
      },
    }
  }
  const runtime = createFakeRuntime({
    system,
    events: {
      subscribe: (caller, query, sink) => {
        runtime.calls.push({ method: 'events.subscribe', args: [caller.subject, query] })
        return subscribe(sink)
      },
      subscribeCatalog: (_caller, _directory, sink) => subscribe(sink),
      subscribeActivity: (_caller, sink) => subscribe(sink),
    },
  })
  const server = createTestServer({ runtime, clock, ...options })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const sockets: Socket[] = []
  open.push({ server, sockets })
  return {
    server,
    runtime,
    clock,
    port,
    sinks,
    async closed(count) {
      while (ends.length < count) await new Promise<void>((resolve) => (wake = resolve))
      return ends
    },
    async read(path = '/v2/events', headers = []) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.write([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n'))
      return reader(socket)
    },
  }
}

async function reader(socket: Socket): Promise<Reader> {
  let tail = ''
  const chunks: string[] = []
  let wake: () => void = () => undefined
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-4096)
    chunks.push(chunk)
    wake()
  })
  const text = () => chunks.join('')
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text())))
  const until = async (wanted: string) => {
    if (!text().includes(wanted)) while (!tail.includes(wanted)) await new Promise<void>((resolve) => (wake = resolve))
    return text()
  }
  await until('\r\n\r\n')
  return { socket, chunks, head: () => text().split('\r\n\r\n', 1).join('').toLowerCase(), until, ended }
}

describe('an event stream', () => {
  test('sends its head at once, then the frames as they are', async () => {
    const { sinks, read } = await bench()
    const stream = await read()
    const head = stream.head()
    expect(head).toMatch(/^http\/1\.1 200 ok\r\n/)
    for (const line of [
      'content-type: text/event-stream; charset=utf-8',
      'cache-control: no-store',
      'x-accel-buffering: no',
      'x-content-type-options: nosniff',
    ]) {
      expect(head).toContain(line)
    }
    sinks[0]?.write(frame('one'))
    sinks[0]?.write(frame('two é'))
    expect((await stream.until('two é\n\n')).split('\r\n\r\n')[1]).toBe('data: one\n\ndata: two é\n\n')
  })

  test('keeps what was written while subscribing behind the head', async () => {
    const { read } = await bench({}, (sink) => sink.write(frame('baseline')))
    expect((await (await read()).until('baseline')).endsWith('\r\n\r\ndata: baseline\n\n')).toBe(true)
  })

  test('joins the frames of one turn to one write, the same for every reader', async () => {
    const turns: (() => void)[] = []
    const { sinks, read } = await bench({ soon: (run) => turns.push(run) })
    const readers = [await read(), await read()]
    for (const text of ['a', 'b', 'c']) for (const sink of sinks) sink.write(frame(text))
    expect({ turns: turns.length, pending: sinks.map((sink) => sink.pending()) }).toEqual({ turns: 1, pending: [27, 27] })
    turns.shift()?.()
    for (const each of readers) {
      await each.until('data: c')
      expect(each.chunks.at(-1)).toBe('data: a\n\ndata: b\n\ndata: c\n\n')
    }
    sinks[0]?.write(frame('d'))
    expect(turns.length).toBe(1)
  })

  test('sends a frame that is awaited at once after a silence, with those before it, and joins those that follow it', async () => {
    const turns: (() => void)[] = []
    const { clock, sinks, read } = await bench({ soon: (run) => turns.push(run) })
    const stream = await read()
    clock.advance(5)
    sinks[0]?.write(frame('before'))
    for (const text of ['a', 'b', 'c']) sinks[0]?.write(frame(text), 'growing')
    await stream.until('data: a')
    expect({ chunk: stream.chunks.at(-1), turns: turns.length }).toEqual({ chunk: 'data: before\n\ndata: a\n\n', turns: 1 })
    clock.advance(4)
    turns.shift()?.()
    await stream.until('data: c')
    expect(stream.chunks.at(-1)).toBe('data: b\n\ndata: c\n\n')
    clock.advance(4)
    sinks[0]?.write(frame('d'), 'growing')
    expect(turns.length).toBe(1)
  })

  test('sends what ends what is waited for at once, with those before it', async () => {
    const { clock, sinks, read } = await bench({ soon: () => undefined })
    const stream = await read()
    clock.advance(5)
    sinks[0]?.write(frame('a'), 'growing')
    for (const text of ['b', 'c']) sinks[0]?.write(frame(text))
    sinks[0]?.write(frame('d'), 'whole')
    await stream.until('data: d')
    expect(stream.chunks.at(-1)?.endsWith('data: b\n\ndata: c\n\ndata: d\n\n')).toBe(true)
  })

  test('that cannot be opened is an ordinary error', async () => {
    const { port } = await bench({}, () => {
      throw new SvcError('events.cursor_expired', 'Too old.', { oldest: 7 })
    })
    const answer = await fetch(`http://127.0.0.1:${port}/v2/events?since=1`)
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ code: 'events.cursor_expired', details: { oldest: 7 } })
  })

  test('is refused to a web page of another site like every operation', async () => {
    const { port, sinks } = await bench()
    for (const { path } of STREAMS) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { origin: 'https://evil.example' } })
      expect(answer.status).toBe(403)
    }
    expect(sinks).toEqual([])
  })

  test('says something after ten seconds of silence, and only then', async () => {
    const { clock, sinks, read } = await bench()
    const stream = await read()
    clock.advance(9999)
    sinks[0]?.write(frame('late'))
    await stream.until('late')
    clock.advance(9999)
    sinks[0]?.write(frame('later'))
    await stream.until('later')
    expect(stream.chunks.join('')).not.toContain(':\n\n')
    clock.advance(10_000)
    await stream.until('later\n\n:\n\n')
    clock.advance(10_000)
    await stream.until(':\n\n:\n\n')
  })

  test('closes its subscription once when the reader leaves, and asks for no more heartbeats', async () => {
    const { clock, server, sinks, closed, read } = await bench()
    const stream = await read()
    expect({ streams: server.streams, timers: clock.pendingTimers }).toEqual({ streams: 1, timers: 1 })
    stream.socket.destroy()
    await closed(1)
    expect({ streams: server.streams, timers: clock.pendingTimers }).toEqual({ streams: 0, timers: 0 })
    sinks[0]?.write(frame('nobody'))
    expect(sinks[0]?.pending()).toBe(0)
    await sinks[0]?.drained()
  })

  test('closes its subscription also when the reader left while it was admitted', async () => {
    const clients: Socket[] = []
    const { closed, port, server, sinks } = await bench({}, () => undefined, {
      canonicalDirectory: async (path) => {
        const [client] = clients
        client?.destroy()
        await new Promise<void>((resolve) => client?.once('close', () => resolve()))
        // Whatever the server has read by the end of a later exchange, it has seen the end of the earlier connection.
        for (let round = 0; round < 2; round++) await (await fetch(`http://127.0.0.1:${port}/v2/health`)).text()
        return path
      },
    })
    const client = connect(port, '127.0.0.1')
    clients.push(client)
    client.write(`GET /v2/session-catalog/events?directory=/srv/space HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    await closed(1)
    expect({ sinks: sinks.length, streams: server.streams }).toEqual({ sinks: 1, streams: 0 })
  })

  test('sends everything before it ends', async () => {
    const { sinks, closed, read } = await bench()
    const stream = await read()
    sinks[0]?.write(frame('last words'))
    sinks[0]?.end()
    sinks[0]?.write(frame('too late'))
    expect((await stream.ended).endsWith('data: last words\n\n')).toBe(true)
    await closed(1)
  })

  test('may end while it is being opened', async () => {
    const { closed, read } = await bench({}, (sink) => {
      sink.write(frame('only'))
      sink.end()
    })
    expect((await (await read()).ended).endsWith('data: only\n\n')).toBe(true)
    await closed(1)
  })

  test('ends when the server stops', async () => {
    const { server, read, closed } = await bench()
    const streams = await Promise.all(STREAMS.map(({ path }) => read(path)))
    expect(server.streams).toBe(STREAMS.length)
    await server.close(10_000)
    await Promise.all(streams.map((stream) => stream.ended))
    await closed(3)
    expect(server.streams).toBe(0)
  })
})

describe('a reader that does not read', () => {
  const block = frame('x'.repeat(1024 * 1024))

  test('is counted in bytes, holds nobody else up, and is let go after the write stall', async () => {
    const { clock, server, sinks, closed, read } = await bench()
    const slow = await read()
    const quick = await read()
    slow.socket.pause()
    for (let count = 0; count < 16; count++) for (const sink of sinks) sink.write(block)
    for (const sink of sinks) sink.write(frame('after the flood'))
    await quick.until('after the flood')
    expect(sinks[1]?.pending()).toBe(0)
    expect(sinks[0]?.pending()).toBeGreaterThan(1024 * 1024)
    clock.advance(29_000)
    expect(server.streams).toBe(2)
    clock.advance(11_000)
    expect(await closed(1)).toEqual(['stalled'])
    expect(server.streams).toBe(1)
    quick.socket.destroy()
    expect(await closed(2)).toEqual(['stalled', 'left'])
  })

  test('is waited for between pages, until it reads again', async () => {
    const { sinks, read } = await bench()
    const slow = await read()
    slow.socket.pause()
    const [sink] = sinks
    for (let count = 0; count < 16; count++) sink?.write(block)
    let drained = false
    const waiting = sink?.drained().then(() => (drained = true))
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(drained).toBe(false)
    slow.socket.resume()
    await waiting
    expect(sink?.pending()).toBe(0)
  })
})

describe('readers of one caller that do not read', () => {
  const block = frame('x'.repeat(1024 * 1024))
  const told = (sinks: readonly FrameSink[]) => sinks.reduce((sum, sink) => sum + sink.pending(), 0)

  test('together keep no more than their budget, and a reader that reads beside them loses nothing', async () => {
    const { server, sinks, closed, read } = await bench()
    const readers = await Promise.all(Array.from({ length: 12 }, () => read()))
    const quick = await read()
    for (const { socket } of readers) socket.pause()
    const most = { bytes: 0, readers: server.streams }
    for (let count = 1; count <= 40; count++) {
      for (const sink of sinks) sink.write(block)
      sinks.at(-1)?.write(frame(`round ${count}`))
      await quick.until(`data: round ${count}\n`)
      most.bytes = Math.max(most.bytes, told(sinks))
    }
    // The look is after each 64th of the budget, and the block that led to it is written before somebody is cut.
    expect(most.bytes).toBeLessThanOrEqual(LIMITS.events.readerBytes * (1 + 1 / 64) + 2 * block.byteLength)
    expect(most.bytes).toBeGreaterThan(LIMITS.events.readerBytes / 2)
    const ends = await closed(most.readers - server.streams)
    expect(new Set(ends)).toEqual(new Set(['stalled']))
    expect(ends.length).toBeGreaterThan(4)
    expect((await quick.until('round 40')).split('data: round ')).toHaveLength(41)
  })

  test('have smaller pages the more they are, and the full page is there again when they have left', async () => {
    const { server, sinks, read, closed } = await bench()
    const first = await read()
    const room = () => sinks[0]?.room() ?? 0
    expect(room()).toBe(LIMITS.events.replayPageBytes)
    const others = await Promise.all(Array.from({ length: 200 }, () => read()))
    expect(room() * server.streams).toBeLessThanOrEqual(LIMITS.events.readerBytes / 2)
    for (const { socket } of others) socket.destroy()
    await closed(200)
    expect(room()).toBe(LIMITS.events.replayPageBytes)
    first.socket.destroy()
  })
})

describe('the cursor of an event stream', () => {
  test('that is of a store before this one is named in the head of the answer, and no other is', async () => {
    const runtime = createFakeRuntime({
      events: { subscribe: (_caller, { after }) => ({ close: () => undefined, ...(after === 7 && { trimmed: 900 }) }) },
    })
    const server = createTestServer({ runtime })
    open.push({ server, sockets: [] })
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const told = async (since: number) => {
      const answer = await fetch(`http://127.0.0.1:${port}/v2/events?since=${since}`)
      await answer.body?.cancel()
      return [answer.status, answer.headers.get('x-svc-trimmed')]
    }
    expect([await told(7), await told(8)]).toEqual([
      [200, '900'],
      [200, null],
    ])
  })

  test.each([
    ['/v2/events', [], { after: undefined, tail: false, limit: 1000 }],
    ['/v2/events?tail=true', [], { after: undefined, tail: true, limit: 1000 }],
    ['/v2/events?since=0', ['Last-Event-ID: 9'], { after: 0, tail: false, limit: 1000 }],
    ['/v2/events', ['Last-Event-ID: 42'], { after: 42, tail: false, limit: 1000 }],
    ['/v2/events', ['Last-Event-ID: evt_1'], { after: undefined, tail: false, limit: 1000 }],
    ['/v2/events?limit=999999', [], { after: undefined, tail: false, limit: 5000 }],
    ['/v2/events?limit=0', [], { after: undefined, tail: false, limit: 1 }],
    ['/v2/events?sessionId=ses_mine', [], { after: undefined, tail: false, limit: 1000, sessionId: 'ses_mine' }],
  ] as const)('%s %j', async (path, headers, query) => {
    const { runtime, read } = await bench()
    await read(path, [...headers])
    expect(runtime.calls.at(-1)).toEqual({ method: 'events.subscribe', args: ['local', { sessionId: undefined, ...query }] })
  })
})

test('a stream is written into the audit log when it opens, once', async () => {
  const { runtime, read, closed } = await bench(withToken)
  const stream = await read('/v2/events', [`Authorization: ${BEARER.authorization}`])
  const entries = () => runtime.calls.filter(({ method }) => method === 'system.recordAudit').map(({ args }) => args[0])
  expect(entries()).toEqual([expect.objectContaining({ method: 'GET', path: '/v2/events', status: 200 })])
  stream.socket.destroy()
  await closed(1)
  expect(entries()).toHaveLength(1)
  expect(JSON.stringify(entries())).not.toContain(TOKEN)
})
