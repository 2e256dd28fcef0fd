/** What requests and answers have in common, whichever client carries them: the part of the `fetch` standard that model calls need (decision 008). */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { PlainAnswer } from '../../../ports/plain-request.js'
import type { Over, Pieces } from './pieces.js'

/** One request; redirects are answers, nothing is decompressed. */
export type Send = (url: URL, request: Request) => Promise<Answer>

export interface Request {
  readonly method: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly (string | Uint8Array)[] | Readable | undefined
  readonly signal?: AbortSignal | undefined
  /** Gets what closes the connection at once. */
  readonly onOpen?: ((close: () => void) => void) | undefined
}

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Pieces
}

/** The body of a request. Throws for what is neither text nor bytes, nor a stream of them. */
export function bodyOf(body: RequestInit['body']): Request['body'] {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return [body]
  if (body instanceof ReadableStream) return Readable.fromWeb(body as NodeStream<Uint8Array>)
  throw new TypeError('a request body is text or bytes, or a stream of bytes')
}

export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('This operation was aborted', 'AbortError')
}

/** As the standard has it: the network's own error is the cause. */
export function failed(cause: Error): Error {
  return new TypeError('fetch failed', { cause })
}

/** The answer as a standard one; `over` is called for every one. */
export function responseOf(answer: Answer, over: Over): Response {
  const { status, statusText, body } = answer
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) headers.append(name, one)
  const isEmpty = status === 204 || status === 304 || status < 200
  if (isEmpty) {
    body.skip()
    over(0)
  } else body.whenOver(over)
  return new Response(isEmpty ? null : streamOf(body), { status: Math.max(status, 200), statusText, headers })
}

function streamOf({ read, cancel }: Pieces): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        const piece = await read()
        if (piece === undefined) body.close()
        else body.enqueue(piece)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}

/** The answer with its body in pieces; `over` is called once. */
export function plainAnswerOf({ status, headers, body }: Answer, over: Over): PlainAnswer {
  body.whenOver(over)
  return {
    status,
    header(name) {
      const value = headers[name]
      return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
    },
    read: body.read,
    cancel: body.cancel,
  }
}
