// Holds subsystems d.6 (quotas); threat-model T6, H8.
import { EventEmitter } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createTenantQuotas } from '../../src/http/admission/quotas.js'
import type { HttpServer } from '../../src/http/server.js'
import { type Caller, type Quotas, TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { SvcError } from '../../src/protocol/errors.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime, SESSION_ID } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

const of = (tenantId: string, quotas?: Quotas): Caller => ({
  ...TRUSTED_CALLER,
  tenantId,
  authenticated: true,
  hosted: true,
  ...(quotas !== undefined && { quotas }),
})

function opened() {
  const clock = createFakeClock()
  const quotas = createTenantQuotas(clock)
  const count = (caller: Caller) => {
    const answer = Object.assign(new EventEmitter(), { destroyed: false })
    quotas.count(caller, answer)
    return () => void answer.emit('close')
  }
  /** What is left of the refusal. */
  const refusal = (caller: Caller): unknown => {
    try {
      count(caller)()
      return undefined
    } catch (error) {
      return error instanceof SvcError ? [error.code, error.details['quota'], error.details['retryAfterSeconds']] : error
    }
  }
  return { clock, quotas, count, refusal }
}

describe('the requests of a tenant', () => {
  test('in a minute are as many as its token says, whichever token made them; the next minute begins with the first request after it', () => {
    const { clock, count, refusal } = opened()
    const two = of('a', { requestsPerMinute: 2 })
    count(of('a'))()
    clock.advance(20_000)
    count(two)()
    expect(refusal(two)).toEqual(['quota.exceeded', 'requestsPerMinute', 40])
    expect(refusal(of('a', { requestsPerMinute: 3 }))).toBeUndefined()
    expect(refusal(of('b', { requestsPerMinute: 1 }))).toBeUndefined()
    clock.advance(39_999)
    expect(refusal(two)).toEqual(['quota.exceeded', 'requestsPerMinute', 1])
    clock.advance(1)
    for (const answer of [undefined, undefined, ['quota.exceeded', 'requestsPerMinute', 60]]) expect(refusal(two)).toEqual(answer)
    expect(refusal(of('c', { requestsPerMinute: 0 }))).toEqual(['quota.exceeded', 'requestsPerMinute', 60])
  })

  test('that are being answered are as many as its token says; one that is refused counts for nothing', () => {
    const { count, refusal } = opened()
    const one = of('a', { maxInFlight: 1, requestsPerMinute: 3 })
    const end = count(one)
    for (let again = 0; again < 5; again++) expect(refusal(one)).toEqual(['quota.exceeded', 'maxInFlight', 1])
    end()
    count(one)()
    count(one)()
    expect(refusal(one)).toEqual(['quota.exceeded', 'requestsPerMinute', 60])
  })

  test('whose answer has ended before it was counted give their place back at once', () => {
    const { quotas, refusal } = opened()
    const one = of('a', { maxInFlight: 1 })
    quotas.count(one, Object.assign(new EventEmitter(), { destroyed: true }))
    expect(refusal(one)).toBeUndefined()
  })

  test('are not counted for the operator, nor for whoever needs no credential', () => {
    const { quotas, count } = opened()
    count({ ...TRUSTED_CALLER, authenticated: true, operator: true })
    count(TRUSTED_CALLER)
    expect(quotas.size).toBe(0)
  })

  test('are counted for a bounded number of tenants; those that are idle are forgotten, and none that counts something', () => {
    const { clock, quotas, count, refusal } = opened()
    const { tenants, idle, window } = LIMITS.quotas
    const limited = { requestsPerMinute: 1 }
    const stays = count(of('stays', { maxInFlight: 1 }))
    for (let at = 1; at < tenants; at++) count(of(`t${at}`, limited))()
    expect(refusal(of('one-more', limited))).toEqual(['quota.exceeded', undefined, undefined])
    expect(refusal(of('free'))).toBeUndefined()
    expect(refusal(of('t7', limited))).toEqual(['quota.exceeded', 'requestsPerMinute', 60])
    expect(quotas.size).toBe(tenants)
    clock.advance(window)
    expect(refusal(of('one-more', limited))).toBeUndefined()
    expect(quotas.size).toBe(2)
    clock.advance(idle)
    expect(refusal(of('another', limited))).toBeUndefined()
    expect(quotas.size).toBe(2)
    expect(refusal(of('stays', { maxInFlight: 1 }))).toEqual(['quota.exceeded', 'maxInFlight', 1])
    stays()
    clock.advance(idle)
    expect(refusal(of('another', limited))).toBeUndefined()
    expect(quotas.size).toBe(1)
  })
})

describe('a place of a request that is being answered', () => {
  const servers: HttpServer[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close(0)))
  })
  const authorization = 'Bearer of-acme'

  /** Somebody of a tenant who is no stranger, so that sockets are let in. */
  async function listening(maxInFlight: number) {
    const { hosted: _, ...caller } = of('acme', { maxInFlight })
    const over: (() => void)[] = []
    let begun: () => void = () => undefined
    async function* silence(): AsyncGenerator<never> {
      await new Promise<void>((resolve) => over.push(resolve))
      yield* []
    }
    const close = () => over.forEach((end) => end())
    const runtime = createFakeRuntime({
      plugins: {
        present: () => async () => ({ caller, socket: { frames: silence(), take: () => undefined, close } }),
        match: async () => ({
          kind: 'socket',
          directory: '/srv/here',
          sessionId: undefined,
          handle: async () => ({ status: 200, headers: {}, body: {} }),
          open: async () => ({ outbound: silence(), receive: () => undefined, close }),
        }),
      },
    })
    const server = createTestServer({
      runtime: {
        ...runtime,
        sessions: {
          ...runtime.sessions,
          owner: () => ({ tenantId: 'acme', directory: '/' }),
          wait: (_id, signal) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('left')))
              begun()
            }),
        },
      },
      tokens: { trusted: false, authenticate: () => caller, stands: () => true },
    })
    servers.push(server)
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const ask = async () => {
      const { status, headers } = await fetch(`http://127.0.0.1:${port}/v2/meta`, { headers: { authorization } })
      return [status, headers.get('retry-after')]
    }
    /** Until there is a place again. */
    const untilFree = async () => {
      while ((await ask())[0] !== 200);
    }
    return { port, ask, untilFree, waiting: new Promise<void>((resolve) => (begun = resolve)) }
  }

  test('is given back when the connection is cut in mid-answer', async () => {
    const { port, ask, untilFree, waiting } = await listening(1)
    const socket = connect(port, '127.0.0.1')
    const head = [
      'POST /v2/sessions/ses_1/wait HTTP/1.1',
      `Host: localhost:${port}`,
      `Authorization: ${authorization}`,
      'Content-Length: 0',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await waiting
    expect(await ask()).toEqual([429, '1'])
    socket.destroy()
    await untilFree()
  })

  test('is given back after refusals, answers and streams that are left', async () => {
    const { port, ask, untilFree } = await listening(1)
    const url = `http://127.0.0.1:${port}`
    for (const path of ['/v2/none', '/v2/management/skills', '/v2/meta', '/']) {
      await (await fetch(`${url}${path}`, { headers: { authorization } })).text()
      await untilFree()
    }
    const left = new AbortController()
    const stream = await fetch(`${url}/v2/events?sessionId=${SESSION_ID}`, { headers: { authorization }, signal: left.signal })
    expect(stream.status).toBe(200)
    expect(await ask()).toEqual([429, '1'])
    left.abort()
    await untilFree()
  })

  test.each([
    ['a ticket', '/v2/plugins/dev.svc.pty/pty_1/connect?ticket=good', {}],
    ['a credential', '/v2/plugins/dev.example.notes/live', { authorization }],
  ])('is kept by a socket that came with %s until it closes', async (_, path, headers) => {
    const { port, ask, untilFree } = await listening(1)
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    expect(await ask()).toEqual([429, '1'])
    socket.terminate()
    await untilFree()
  })
})
