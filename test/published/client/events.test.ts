// Holds sessions-events §11.4.
import { describe, expect, test } from 'vitest'
import type { Gap } from '../../../src/published/client/client-types.js'
import type { SvcEvent } from '../../../src/published/client/operation-types.js'
import { SvcClientError } from '../../../src/published/client/error.js'
import { createClientOn } from '../../../src/published/client/client.js'
import { openBench, quickPlatform, readUntil } from './bench.js'

const created = (title: string) => (event: SvcEvent | Gap) => event.type === 'session.created' && event.data.info.title === title

/** Streams of a server that answers each connection with the next body, and then no more. */
function scripted(...bodies: (string | Response)[]) {
  const asked: { target: string; cursor: string | null }[] = []
  const fetch = async (input: string, init: RequestInit): Promise<Response> => {
    asked.push({ target: input.replace('http://svc', ''), cursor: new Headers(init.headers).get('last-event-id') })
    const body = bodies.shift()
    if (body === undefined) throw new TypeError('fetch failed')
    return body instanceof Response ? body : new Response(body)
  }
  return { asked, client: createClientOn(quickPlatform(), { baseUrl: 'http://svc/', fetch }) }
}

const record = (sequence: number, numbered = true) =>
  `${numbered ? `id: ${sequence}\n` : ''}event: config.updated\ndata: ${JSON.stringify({ sequence, type: 'config.updated', data: {} })}\n\n`
const refusal = (code: string, details: object = {}, retryable = false) =>
  new Response(JSON.stringify({ code, message: code, retryable, details }), { status: 409 })

async function all(events: AsyncIterable<SvcEvent | Gap>): Promise<(number | Gap)[]> {
  const seen: (number | Gap)[] = []
  try {
    for await (const event of events) seen.push(event.type === 'gap' ? event : event.sequence)
  } catch (error) {
    if (!(error instanceof SvcClientError) || error.code !== 'client.unreachable') throw error
  }
  return seen
}

describe('the event stream of a real server', () => {
  test('replays from a cursor and goes on live, family by family', async () => {
    const { client } = await openBench()
    const first = await client.sessions.create({ body: { title: 'one' } })
    await client.sessions.create({ body: { title: 'two' } })
    const past = await readUntil(client.events(), created('two'))
    expect(past.some(created('one'))).toBe(true)
    const cursor = past.find(created('one'))
    if (cursor === undefined || cursor.type === 'gap') throw new Error('not created')
    const after = await readUntil(client.events({ since: cursor.sequence }), created('two'))
    expect(after.some(created('one'))).toBe(false)
    const own = await readUntil(client.events({ sessionId: first.id, since: 0 }), created('one'))
    expect(own.every((event) => event.type !== 'gap' && event.subject?.id === first.id)).toBe(true)
  })

  test('goes on after a restart of the server without a gap', async () => {
    const bench = await openBench()
    const { client, service } = bench
    await client.sessions.create({ body: { title: 'before' } })
    const seen: (SvcEvent | Gap)[] = []
    for await (const event of client.events()) {
      seen.push(event)
      if (created('before')(event)) {
        await bench.restart(service.runtime)
        await service.session({ title: 'after' })
      }
      if (created('after')(event)) break
    }
    const sequences = seen.map((event) => (event.type === 'gap' ? Number.NaN : event.sequence))
    expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b))
    expect(bench.cursors.length).toBeGreaterThan(1)
  })

  test('ends quietly when it is aborted', async () => {
    const { client, streams } = await openBench()
    const stop = new AbortController()
    void streams(1).then(() => stop.abort())
    await expect(readUntil(client.events({ tail: true, signal: stop.signal }), () => false)).resolves.toEqual([])
    await expect(readUntil(client.events({ signal: stop.signal }), () => false)).resolves.toEqual([])
  })

  test('is one connection when asked for as an operation', async () => {
    const { client, cut, cursors } = await openBench()
    await client.sessions.create({ body: { title: 'one' } })
    const seen: string[] = []
    for await (const event of client.events.subscribe({ since: 0 })) {
      seen.push(event.type)
      if (event.type === 'session.created') cut()
    }
    expect(seen).toContain('session.created')
    expect(cursors).toHaveLength(1)
  })
})

describe('a broken event stream', () => {
  test('is resumed after the last number, and what is repeated is left out', async () => {
    const { client, asked } = scripted(record(4) + record(5), record(4) + record(5) + record(6))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([4, 5, 6])
    expect(asked.slice(0, 2)).toEqual([
      { target: '/v2/events', cursor: '3' },
      { target: '/v2/events', cursor: '5' },
    ])
  })

  test('passes records without a number on and keeps its cursor', async () => {
    const { client, asked } = scripted(record(4) + record(9, false), record(9, false) + record(5))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([4, 9, 9, 5])
    expect(asked[1]?.cursor).toBe('4')
  })

  test('tells a gap and goes on from now when the cursor has expired', async () => {
    const { client, asked } = scripted(record(4), refusal('events.cursor_expired', { oldest: 900 }), record(1000))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([4, { type: 'gap', reason: 'expired', after: 4 }, 1000])
    expect(asked[2]).toEqual({ target: '/v2/events?tail=true', cursor: null })
  })

  test('tells a gap when even the first cursor has expired', async () => {
    const { client } = scripted(refusal('events.cursor_expired', { oldest: 900 }), record(1000))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([{ type: 'gap', reason: 'expired', after: 3 }, 1000])
  })

  test('tells a gap when its cursor is of a store that was there before, and takes all that the new one has', async () => {
    const trimmed = () =>
      new Response(record(1000) + record(1001), { headers: { 'content-type': 'text/event-stream', 'x-svc-trimmed': '999' } })
    const { client, asked } = scripted(record(4), trimmed(), record(1001) + record(1002))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([
      4,
      { type: 'gap', reason: 'replaced', after: 4 },
      1000,
      1001,
      1002,
    ])
    expect(asked[2]).toEqual({ target: '/v2/events', cursor: '1001' })
  })

  test('tells a gap when the server has never handed the cursor out', async () => {
    const { client } = scripted(record(400), refusal('request.invalid', { cursor: 400, newest: 7 }), record(8))
    expect(await all(client.events({ since: 3, attempts: 1 }))).toEqual([400, { type: 'gap', reason: 'replaced', after: 400 }, 8])
  })

  test('tells a gap when it broke before there was a cursor', async () => {
    const { client } = scripted(':\n\n', record(8))
    expect(await all(client.events({ tail: true, attempts: 1 }))).toEqual([{ type: 'gap', reason: 'unseen', after: undefined }, 8])
  })

  test('is tried again while the server starts, and given up when it refuses', async () => {
    const { client, asked } = scripted(record(4), refusal('server.starting', {}, true), refusal('auth.invalid_token'))
    await expect(all(client.events({ since: 3 }))).rejects.toMatchObject({ code: 'auth.invalid_token' })
    expect(asked).toHaveLength(3)
  })

  test('is given up after so many failures in a row', async () => {
    const { client, asked } = scripted(record(4), record(5))
    await expect(readUntil(client.events({ since: 3, attempts: 4 }), () => false)).rejects.toMatchObject({ code: 'client.unreachable' })
    expect(asked).toHaveLength(2 + 4)
  })

  test('is given up when connections are taken again and again and nothing comes', async () => {
    const { client, asked } = scripted(record(4), ...Array.from({ length: 20 }, () => ''))
    await expect(readUntil(client.events({ since: 3, attempts: 4 }), () => false)).rejects.toMatchObject({
      code: 'client.unreachable',
      message: 'The event stream ended again and again before anything came.',
    })
    expect(asked).toHaveLength(1 + 4)
  })

  test('is taken for dead when even the heartbeat stops', async () => {
    const platform = quickPlatform()
    const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(record(4))) })
    const bodies: BodyInit[] = [silent, record(5)]
    const fetch = async (): Promise<Response> => {
      const body = bodies.shift()
      if (body === undefined) throw new TypeError('fetch failed')
      return new Response(body)
    }
    const client = createClientOn(platform, { baseUrl: 'http://svc', fetch })
    const seen: (number | Gap)[] = []
    for await (const event of client.events({ since: 3 })) {
      seen.push(event.type === 'gap' ? event : event.sequence)
      if (seen.length === 2) break
      setImmediate(() => platform.watchdog())
    }
    expect(seen).toEqual([4, 5])
  })

  test('with a record that is no JSON is an error, not an end', async () => {
    const { client } = scripted('id: 4\ndata: {"torn\n\n')
    await expect(readUntil(client.events({ since: 3 }), () => false)).rejects.toMatchObject({ code: 'client.invalid_answer' })
  })

  test('waits longer and longer, with chance', async () => {
    const waits: number[] = []
    const platform = {
      ...quickPlatform(),
      random: () => 0,
      after(ms: number, run: () => void) {
        if (ms < 25_000) waits.push(ms)
        if (ms < 25_000) setImmediate(run)
        return () => undefined
      },
    }
    const fetch = async (): Promise<Response> => {
      if (waits.length > 0) throw new TypeError('fetch failed')
      return new Response(record(4))
    }
    const client = createClientOn(platform, { baseUrl: 'http://svc', fetch })
    await expect(readUntil(client.events({ since: 3, attempts: 8 }), () => false)).rejects.toThrow('No server answers at http://svc')
    expect(waits).toEqual([125, 250, 500, 1000, 2000, 4000, 5000, 5000])
  })
})
