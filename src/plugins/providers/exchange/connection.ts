/**
 * The HTTP exchange of one step, as the `fetch` that the SDK is handed. It bounds what is read and decides when the
 * body is over; what the bytes mean is told by others: `events.ts` and the SDK.
 *
 * I1 To the SDK a body always ends well. Why it ended early is `failure`: it counts only if the model was not done.
 * I2 After `end` the rest of the body is read and dropped, so that the connection can serve again.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { PlainAnswer } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import type { Rewrite } from './events.js'
import type { Held } from './held.js'
import { wellFormed } from './json.js'

export interface Connection {
  /** `held` fills the request; `rewrite` makes of a good answer what the SDK gets; it may `end` the body. */
  fetch(
    input: Parameters<typeof globalThis.fetch>[0],
    init: RequestInit,
    how: { readonly rewrite: Rewrite; readonly held: Held },
  ): Promise<Response>
  /** As `fetch`, for who reads the answer with `read`: `body` is sent as it is; of an answer that is refused, its beginning as text. */
  post(
    address: string,
    body: readonly Uint8Array<ArrayBuffer>[],
  ): Promise<{ readonly answer: PlainAnswer; readonly refusal: string | undefined }>
  /** Hands on what is read of an answer, in slices, until it is over; what `feed` throws ends it. */
  read(answer: PlainAnswer, feed: (piece: Uint8Array<ArrayBuffer>) => void): Promise<void>
  /** Of what `fetch` asks. */
  signal(): AbortSignal
  /** The bytes so far were events: the size of an event counts anew. */
  heard(): void
  /** Ends the body for the SDK. */
  end(): void
  /** Closes the connection at once. */
  abort(): void
  /** Resolves when nothing more will be read. */
  readonly over: Promise<void>
  failure(): unknown
}

export interface ConnectionDeps {
  readonly effects: Pick<NativeHost['effects'], 'fetch' | 'post'>
  /**
   * Sent as they are, in lower case; of the SDK's headers stay those that nothing is said of here, and no credential. Some endpoints admit
   * only agents they know, and the SDK adds its own names.
   */
  readonly headers: Readonly<Record<string, string>>
  /** Makes the error for an answer beyond the bounds. */
  readonly tooLarge: (what: string) => Error
  /** Makes the error for a web page in the place of an answer. */
  readonly page: (status: number) => Error
  /** Waited for between reads. */
  readonly turn: () => Promise<void> | undefined
}

/** Bytes that the SDK gets between two turns: it costs by the event, of which the smallest have six. */
const SLICE = 4096
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key']

export function createConnection({ effects, headers: given, tooLarge, page, turn }: ConnectionDeps): Connection {
  const { fetch } = effects
  const send = effects.post ?? postBy(fetch)
  /** Made for who asks for its signal, and to abort: what is posted and not aborted has none. */
  let controller: AbortController | undefined
  let close = (): void => undefined
  const closing = () => (controller ??= new AbortController())
  const abort = (): void => {
    closing().abort()
    close()
  }
  const opened = (end: () => void): void => {
    close = end
    if (controller?.signal.aborted === true) end()
  }
  const reading = createReading(tooLarge, abort)
  let ended = false
  let end = () => {}

  const bounded = (source: ReadableStream<Uint8Array<ArrayBuffer>>, rewrite: Rewrite): ReadableStream<Uint8Array<ArrayBuffer>> => {
    const body = source.getReader()
    const reader = async () => (await body.read()).value
    let isReading = false
    let rewriting = false
    /** Of a piece that was read: what the SDK makes of many events at once nobody else can interrupt. */
    let rest: Uint8Array<ArrayBuffer> | undefined
    const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
      if (rest !== undefined) await turn()
      if (ended) return undefined
      isReading = rest === undefined
      const piece = rest ?? (await reading.next(reader))
      isReading = false
      rest = piece === undefined || piece.byteLength <= SLICE ? undefined : piece.subarray(SLICE)
      return piece?.subarray(0, SLICE)
    }
    const drain = () => reading.drain(reader)
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start(body) {
          end = () => {
            if (rewriting) return // `pull` sees to it
            body.close()
            if (!isReading) void drain()
          }
        },
        async pull(body) {
          let rewritten: Uint8Array<ArrayBuffer> | undefined
          while (rewritten === undefined && !ended) {
            const wasWaiting = rest !== undefined
            const piece = await next()
            if (ended) return wasWaiting ? undefined : void drain()
            if (piece === undefined) {
              ended = true
              return body.close()
            }
            rewriting = true
            rewritten = rewrite(piece)
            rewriting = false
            if (rewritten === undefined && !ended) await turn()
          }
          if (rewritten !== undefined) body.enqueue(rewritten)
          if (!ended) return
          body.close()
          void drain()
        },
        cancel: (reason) => body.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** What is sent: `given` stands above all, and no other credential. */
  const headersOver = (more: RequestInit['headers']): Headers => {
    const headers = new Headers(more)
    for (const name of CREDENTIALS) headers.delete(name)
    for (const [name, value] of Object.entries(given)) headers.set(name, value)
    return headers
  }
  const refusePage = (isOk: boolean, status: number, type: string | null): void => {
    if (!isOk || type?.includes('text/html') !== true) return
    abort()
    throw page(status)
  }

  return {
    signal: () => closing().signal,
    over: reading.over,
    async post(address, body) {
      const answer = await send(address, { headers: given, body, onOpen: opened })
      const isOk = answer.status >= 200 && answer.status < 300
      refusePage(isOk, answer.status, answer.header('content-type'))
      return { answer, refusal: isOk ? undefined : await startOf(answer, LIMITS.provider.errorBytes) }
    },
    read: ({ read: next }, feed) =>
      new Promise((resolve, reject) => {
        end = resolve
        const work = async () => {
          while (!ended) {
            const piece = await reading.next(next)
            if (piece === undefined) break
            for (let at = 0; at < piece.byteLength && !ended; at += SLICE) {
              feed(piece.byteLength <= SLICE ? piece : piece.subarray(at, at + SLICE))
              const due = turn()
              if (due !== undefined) await due
            }
          }
          if (ended) void reading.drain(next)
          ended = true
        }
        work().then(resolve, reject)
      }),
    async fetch(input, init, { rewrite, held }) {
      const json = typeof init.body === 'string' ? init.body : undefined
      const body = json === undefined ? null : held.fill(wellFormed(json))
      const asked = { method: 'POST', headers: headersOver(init.headers), body, redirect: 'manual' as const, signal: closing().signal }
      const response = await fetch(input, asked)
      const { ok, status, statusText, headers, body: answer } = response
      if (answer === null) return response
      refusePage(ok, status, headers.get('content-type'))
      const told = ok ? bounded(answer, rewrite) : await startOf(plainAnswerOf(response, answer), LIMITS.provider.errorBytes)
      return new Response(told, { status, statusText, headers })
    },
    heard: reading.heard,
    end() {
      if (ended) return
      ended = true
      end()
    },
    abort,
    failure: reading.failure,
  }
}

/** What is read of one answer, within its bounds; what breaks it is kept, and closes the connection. */
function createReading(tooLarge: ConnectionDeps['tooLarge'], abort: () => void) {
  let resolveOver = () => {}
  const over = new Promise<void>((resolve) => {
    resolveOver = resolve
  })
  let size = 0
  let unheard = 0
  let failure: unknown

  /** The next piece; undefined when there is no more. */
  async function next(read: PlainAnswer['read']): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      const piece = await read()
      if (piece !== undefined) {
        size += piece.byteLength
        unheard += piece.byteLength
        if (unheard > LIMITS.provider.eventBytes) throw tooLarge(`sent an event larger than ${LIMITS.provider.eventBytes} bytes.`)
        if (size > LIMITS.provider.stepBytes) throw tooLarge(`sent an answer larger than ${LIMITS.provider.stepBytes} bytes.`)
        return piece
      }
    } catch (error) {
      failure ??= error
      abort()
    }
    resolveOver()
    return undefined
  }

  return {
    next,
    async drain(read: PlainAnswer['read']): Promise<void> {
      while ((await next(read)) !== undefined) unheard = 0
    },
    heard: () => void (unheard = 0),
    over,
    failure: () => failure,
  }
}

/** The beginning of an answer as text, at most `maxBytes`; the rest is not read. */
async function startOf(answer: PlainAnswer, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (let size = 0; size < maxBytes; ) {
    const piece = await answer.read()
    if (piece === undefined) return text + decoder.decode()
    text += decoder.decode(piece.subarray(0, maxBytes - size), { stream: true })
    size += piece.byteLength
  }
  answer.cancel()
  return text
}

/** What posts where there is only `fetch`. */
function postBy(fetch: typeof globalThis.fetch): NonNullable<NativeHost['effects']['post']> {
  return async (address, { headers, body, onOpen }) => {
    const controller = new AbortController()
    onOpen(() => controller.abort())
    const whole = body.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString())).join('')
    const response = await fetch(address, { method: 'POST', headers, body: whole, redirect: 'manual', signal: controller.signal })
    return plainAnswerOf(response, response.body)
  }
}

function plainAnswerOf({ status, headers }: Response, body: ReadableStream<Uint8Array<ArrayBuffer>> | null): PlainAnswer {
  const reader = body?.getReader()
  return {
    status,
    header: (name) => headers.get(name),
    read: async () => (await reader?.read())?.value,
    cancel: () => void reader?.cancel(),
  }
}
