/** What requests and answers have in common, whichever client carries them: the part of the `fetch` standard that model calls need (decision 008). */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'

/** Pieces read ahead of whoever reads the body. */
const AHEAD = 16

export type Failure = (error: Error) => Error
/** The answer is over, read to its end, left or broken: its bytes, and why it broke. Called once. */
export type Over = (bytes: number, failure?: unknown) => void
/** One request; redirects are answers, nothing is decompressed, `over` is called for every answer, and not for a rejection. */
export type Send = (url: URL, init: RequestInit, over: Over) => Promise<Response>

export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Readable
  /** Closes the connection. */
  close(): void
}

/** The body of a request. Throws for what is neither text nor bytes, nor a stream of them. */
export function bodyOf(body: RequestInit['body']): string | Uint8Array | Readable | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return body
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

/** The answer as a standard one. */
export function responseOf(answer: Answer, failure: Failure, over: Over): Response {
  const { status, statusText, body } = answer
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) headers.append(name, one)
  const isEmpty = status === 204 || status === 304 || status < 200
  if (isEmpty) {
    body.resume()
    over(0)
  }
  return new Response(isEmpty ? null : streamOf(answer, failure, over), { status: Math.max(status, 200), statusText, headers })
}

function streamOf({ body: source, close }: Answer, failure: Failure, over: Over): ReadableStream<Uint8Array> {
  let isOver = false
  let bytes = 0
  /** A model sends a chunk for every token; what one read of the socket brings is passed on in one piece. */
  let pieces: Uint8Array[] = []
  const once = (run: () => void, broken?: unknown) => {
    if (isOver) return
    isOver = true
    run()
    over(bytes, broken)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(body) {
        const flush = () => {
          const [first, ...more] = pieces
          pieces = []
          if (isOver || first === undefined) return
          body.enqueue(more.length === 0 ? first : Buffer.concat([first, ...more]))
          if ((body.desiredSize ?? 0) <= 0) source.pause()
        }
        source.on('data', (piece: Uint8Array) => {
          bytes += piece.byteLength
          if (pieces.push(piece) === 1) queueMicrotask(flush)
        })
        source.on('end', () => {
          flush()
          once(() => body.close())
        })
        source.on('error', (error) => once(() => body.error(failure(error)), error))
        source.on('close', () => {
          const broken = new Error('the connection was closed before the answer was complete')
          once(() => body.error(failure(broken)), broken)
        })
      },
      pull() {
        source.resume()
      },
      cancel() {
        once(() => undefined)
        close()
      },
    },
    { highWaterMark: AHEAD },
  )
}
