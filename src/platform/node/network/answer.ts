/** What requests and answers have in common, whichever client carries them: the part of the `fetch` standard that model calls need (decision 008). */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { PlainAnswer } from '../../../ports/plain-request.js'

/** Pieces read ahead of whoever reads the body. */
const AHEAD = 16

type Bytes = Uint8Array<ArrayBuffer>

type Failure = (error: Error) => Error
/** The answer is over, read to its end, left or broken: its bytes, and why it broke. Called once. */
export type Over = (bytes: number, failure?: unknown) => void
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
  readonly body: Readable
  /** Closes the connection. */
  close(): void
  /** What an error of the body is told as. */
  readonly failure: Failure
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
    body.resume()
    over(0)
  }
  return new Response(isEmpty ? null : streamOf(answer, over), { status: Math.max(status, 200), statusText, headers })
}

function streamOf(answer: Answer, over: Over): ReadableStream<Uint8Array> {
  const pieces = piecesOf(answer, over)
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        const piece = await pieces.read()
        if (piece === undefined) body.close()
        else body.enqueue(piece)
      },
      cancel: pieces.cancel,
    },
    { highWaterMark: 0 },
  )
}

/** The answer with its body in pieces; `over` is called once. */
export function plainAnswerOf(answer: Answer, over: Over): PlainAnswer {
  return {
    status: answer.status,
    header(name) {
      const value = answer.headers[name]
      return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
    },
    ...piecesOf(answer, over),
  }
}

interface Waiting {
  resolve(piece: Bytes | undefined): void
  reject(error: Error): void
}

/** A model sends a chunk for every token; what one read of the socket brings is passed on in one piece. */
function piecesOf({ body: source, close, failure }: Answer, over: Over): Pick<PlainAnswer, 'read' | 'cancel'> {
  let bytes = 0
  let pieces: Bytes[] = []
  let waiting: Waiting | undefined
  let isDue = false
  let end: { readonly error?: Error } | undefined

  function deliver(): void {
    isDue = false
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    const [first, ...more] = pieces
    if (first === undefined && end === undefined) return
    waiting = undefined
    pieces = []
    if (first !== undefined) resolve(more.length === 0 ? first : Buffer.concat([first, ...more]))
    else if (end?.error !== undefined) reject(end.error)
    else resolve(undefined)
  }
  const soon = () => {
    if (isDue || waiting === undefined) return
    isDue = true
    queueMicrotask(deliver)
  }
  const finish = (broken?: Error) => {
    if (end !== undefined) return
    end = broken === undefined ? {} : { error: failure(broken) }
    over(bytes, broken)
    soon()
  }
  source.on('data', (piece: Buffer<ArrayBuffer>) => {
    if (end !== undefined) return
    bytes += piece.byteLength
    if (pieces.push(piece) >= AHEAD && waiting === undefined) source.pause()
    soon()
  })
  source.on('end', () => finish())
  source.on('error', (error) => finish(error))
  source.on('close', () => finish(new Error('the connection was closed before the answer was complete')))
  return {
    read: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        if (pieces.length > 0 || end !== undefined) return deliver()
        source.resume()
      }),
    cancel() {
      pieces = []
      finish()
      close()
    },
  }
}
