/** A client of a real runtime behind a real server in this process, on connections that tests can cut. */
import { onTestFinished } from 'vitest'
import type { Client, ClientOptions } from '../../../src/published/client/client-types.js'
import { createClientOn } from '../../../src/published/client/client.js'
import { PLATFORM, type Platform } from '../../../src/published/client/platform.js'
import { createHttpServer, type HttpServer } from '../../../src/http/server.js'
import { createTokens } from '../../../src/http/admission/tokens.js'
import type { RunningRuntime } from '../../../src/actors/runtime/runtime.js'
import { startTestService, type TestService } from '../../fakes/service.js'

export interface Bench {
  readonly service: TestService
  readonly client: Client
  readonly url: string
  /** Requests so far, as `GET /v2/health`, oldest first. */
  readonly asked: readonly string[]
  /** `Last-Event-ID` of every event stream that was asked for. */
  readonly cursors: readonly (string | undefined)[]
  /** Resolves with the number of streams asked for, once there are that many. */
  streams(count: number): Promise<void>
  /** Breaks every event stream that is open. */
  cut(): void
  /** The next requests whose `GET /path` matches fail as if nobody answered. */
  fail(pattern: RegExp, times: number): void
  /** As `fail`, but the server has seen the request. */
  loseAnswer(pattern: RegExp, times: number): void
  another(options?: Partial<ClientOptions>): Client
  /** Closes the server, and its runtime unless `keep`; the next one answers at the same address. */
  restart(next: RunningRuntime['runtime']): Promise<void>
}

/** Time that passes at once; what waits for five seconds or longer waits for `watchdog` instead. */
export function quickPlatform(): Platform & { watchdog(): void } {
  const long = new Set<() => void>()
  return {
    ...PLATFORM,
    after(ms, run) {
      if (ms < 5000) return PLATFORM.after(0, run)
      long.add(run)
      return () => long.delete(run)
    },
    watchdog() {
      for (const run of long) run()
    },
  }
}

export async function openBench(
  options: Parameters<typeof startTestService>[0] = {},
  platform: Platform = quickPlatform(),
): Promise<Bench> {
  const service = await startTestService(options)
  const asked: string[] = []
  const cursors: (string | undefined)[] = []
  const failing: { pattern: RegExp; times: number; seen: boolean }[] = []
  const cuts = new Set<() => void>()
  const waiting = new Set<() => void>()
  let server: HttpServer = serverOf(service.runtime)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${port}`
  onTestFinished(async () => {
    for (const cut of cuts) cut()
    await server.close(0)
  })

  function serverOf(runtime: TestService['runtime']): HttpServer {
    const { log, clock } = service.effects
    return createHttpServer({ runtime, tokens: createTokens({}), clock, log, allowedHosts: [], allowedOrigins: [] })
  }

  async function send(input: string, init: RequestInit): Promise<Response> {
    const line = `${init.method ?? 'GET'} ${new URL(input).pathname}`
    asked.push(line)
    const failure = failing.find(({ pattern, times }) => times > 0 && pattern.test(line))
    if (failure !== undefined) failure.times--
    if (failure?.seen === false) throw new TypeError('fetch failed')
    const isStream = line === 'GET /v2/events'
    if (isStream) cursors.push(new Headers(init.headers).get('last-event-id') ?? undefined)
    const response = await fetch(input, init)
    if (failure !== undefined) throw new TypeError('fetch failed')
    for (const look of waiting) look()
    return isStream && response.body !== null ? new Response(cuttable(response.body), response) : response
  }

  function cuttable(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const controller = new AbortController()
    const cut = () => controller.abort(new TypeError('terminated'))
    cuts.add(cut)
    body
      .pipeTo(writable, { signal: controller.signal })
      .catch(() => undefined)
      .finally(() => cuts.delete(cut))
    return readable
  }

  const another = (more: Partial<ClientOptions> = {}) =>
    createClientOn(platform, { baseUrl: url, directory: service.directory, fetch: send, ...more })

  return {
    service,
    client: another(),
    url,
    asked,
    cursors,
    streams: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (cursors.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    cut() {
      for (const cut of cuts) cut()
    },
    fail: (pattern, times) => void failing.push({ pattern, times, seen: false }),
    loseAnswer: (pattern, times) => void failing.push({ pattern, times, seen: true }),
    another,
    async restart(next) {
      await server.close(0)
      server = serverOf(next)
      await server.listen({ host: '127.0.0.1', port })
    },
  }
}

/** Reads everything up to the first value that fits, that one included. */
export async function readUntil<T>(values: AsyncIterable<T>, fits: (value: T) => boolean): Promise<T[]> {
  const seen: T[] = []
  for await (const value of values) {
    seen.push(value)
    if (fits(value)) return seen
  }
  return seen
}
