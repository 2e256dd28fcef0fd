/**
 * The HTTP exchange of one step, as the `fetch` that the SDK is handed. It bounds what is read and decides when the
 * body is over; what the bytes mean is told by others: `events.ts` and the SDK.
 *
 * I1 To the SDK a body always ends well. Why it ended early is `failure`: it counts only if the model was not done.
 * I2 After `end` the rest of the body is read and dropped, so that the connection can serve again.
 */
import { LIMITS } from '../../../protocol/limits.js'
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
  /** As `fetch`, for who reads the answer with `read`: `body` is well-formed; of an answer that is refused, the body is its beginning as text. */
  post(address: string, body: string, held: Held): Promise<{ readonly response: Response; readonly refusal: string | undefined }>
  /** Hands on what is read of a body, in slices, until it is over; what `feed` throws ends it. */
  read(body: ReadableStream<Uint8Array<ArrayBuffer>>, feed: (piece: Uint8Array<ArrayBuffer>) => void): Promise<void>
  readonly signal: AbortSignal
  /** The bytes so far were events: the size of an event counts anew. */
  heard(): void
  /** Ends the body for the SDK. */
  end(): void
  /** Closes the connection at once. */
  abort(): void
  /** Resolves when nothing more will be read. */
  readonly over: Promise<void>
  readonly failure: unknown
}

export interface ConnectionDeps {
  readonly fetch: typeof globalThis.fetch
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

export function createConnection({ fetch, headers: given, tooLarge, page, turn }: ConnectionDeps): Connection {
  const closing = new AbortController()
  let resolveOver = () => {}
  const over = new Promise<void>((resolve) => {
    resolveOver = resolve
  })
  let size = 0
  let unheard = 0
  let failure: unknown
  let ended = false
  let end = () => {}

  /** The next piece; undefined when there is no more. */
  const read = async (reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    try {
      const { done, value } = await reader.read()
      if (!done) {
        size += value.byteLength
        unheard += value.byteLength
        if (unheard > LIMITS.provider.eventBytes) throw tooLarge(`sent an event larger than ${LIMITS.provider.eventBytes} bytes.`)
        if (size > LIMITS.provider.stepBytes) throw tooLarge(`sent an answer larger than ${LIMITS.provider.stepBytes} bytes.`)
        return value
      }
    } catch (error) {
      failure ??= error
      closing.abort()
    }
    resolveOver()
    return undefined
  }

  const bounded = (source: ReadableStream<Uint8Array<ArrayBuffer>>, rewrite: Rewrite): ReadableStream<Uint8Array<ArrayBuffer>> => {
    const reader = source.getReader()
    let reading = false
    let rewriting = false
    /** Of a piece that was read: what the SDK makes of many events at once nobody else can interrupt. */
    let rest: Uint8Array<ArrayBuffer> | undefined
    const next = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
      if (rest !== undefined) await turn()
      if (ended) return undefined
      reading = rest === undefined
      const piece = rest ?? (await read(reader))
      reading = false
      rest = piece === undefined || piece.byteLength <= SLICE ? undefined : piece.subarray(SLICE)
      return piece?.subarray(0, SLICE)
    }
    const drain = async () => {
      while ((await read(reader)) !== undefined) unheard = 0
    }
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start(body) {
          end = () => {
            if (rewriting) return // `pull` sees to it
            body.close()
            if (!reading) void drain()
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
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** The answer, with the beginning of its text where it is none of success. */
  const post = async (input: Parameters<Connection['fetch']>[0], more: RequestInit['headers'], json: string | undefined, held: Held) => {
    const headers = new Headers(more)
    for (const name of CREDENTIALS) headers.delete(name)
    for (const [name, value] of Object.entries(given)) headers.set(name, value)
    const body = json === undefined ? null : held.fill(json)
    const response = await fetch(input, { method: 'POST', headers, body, redirect: 'manual', signal: closing.signal })
    if (response.ok && response.body !== null && response.headers.get('content-type')?.includes('text/html') === true) {
      closing.abort()
      throw page(response.status)
    }
    const refusal = response.ok ? undefined : response.body === null ? '' : await readStart(response.body, LIMITS.provider.errorBytes)
    return { response, refusal }
  }

  return {
    signal: closing.signal,
    over,
    post: (address, body, held) => post(address, undefined, body, held),
    read: (source, feed) =>
      new Promise((resolve, reject) => {
        const reader = source.getReader()
        end = resolve
        const drain = async () => {
          while ((await read(reader)) !== undefined) unheard = 0
        }
        const work = async () => {
          while (!ended) {
            const piece = await read(reader)
            if (piece === undefined) break
            for (let at = 0; at < piece.byteLength && !ended; at += SLICE) {
              feed(piece.subarray(at, at + SLICE))
              const due = turn()
              if (due !== undefined) await due
            }
          }
          if (ended) void drain()
          ended = true
        }
        work().then(resolve, reject)
      }),
    async fetch(input, init, { rewrite, held }) {
      const json = typeof init.body === 'string' ? wellFormed(init.body) : undefined
      const { response, refusal } = await post(input, init.headers, json, held)
      if (response.body === null) return response
      const { status, statusText } = response
      return new Response(refusal ?? bounded(response.body, rewrite), { status, statusText, headers: response.headers })
    },
    heard() {
      unheard = 0
    },
    end() {
      if (ended) return
      ended = true
      end()
    },
    abort: () => closing.abort(),
    get failure() {
      return failure
    },
  }
}

/** The beginning of a body as text, at most `maxBytes`; the rest is not read. */
async function readStart(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (let size = 0; size < maxBytes; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value.subarray(0, maxBytes - size), { stream: true })
    size += value.byteLength
  }
  await reader.cancel()
  return text
}
