/**
 * One request whose body is written, and whose answer is read, piece by piece.
 *
 * What of it is over, the streams of the platform keep: a body that has ended takes no more, an answer that has ended gives none.
 * I1 Nothing is read ahead of the plugin but what the connection itself holds, and nothing is written ahead of the peer.
 * I2 It ends by itself when nothing happened on it for `idle`, and `total` after its begin.
 */
import { createAlarm } from '../../../../kernel/alarm.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { Clock } from '../../../../ports/effects.js'
import type { Answered } from './request.js'
import { explained } from './request.js'

export interface Exchange {
  write(piece: Uint8Array): Promise<void>
  /** The body is complete. */
  end(): Promise<void>
  read(): Promise<Piece>
  /** Ends it at once. Idempotent. */
  close(reason?: SvcError): void
}

interface Piece {
  /** With the first one. */
  readonly answer: Omit<Answered, 'body' | 'filter'> | undefined
  readonly bytes: Uint8Array
  readonly end: boolean
}

interface ExchangeOptions {
  readonly clock: Clock
  readonly host: string
  readonly hasBody: boolean
  /** Told of every byte, both ways; throws when there were too many. */
  count(bytes: number): void
  send(body: ReadableStream<Uint8Array> | undefined, signal: AbortSignal): Promise<Answered>
  /** It has ended by itself. */
  onOver(): void
}

const { idle, total, uploadBytes, streamBytes, pieceBytes } = LIMITS.pluginNetwork

export function createExchange({ clock, host, hasBody, count, send, onOver }: ExchangeOptions): Exchange {
  const stop = new AbortController()
  const { signal } = stop
  const close = (reason = new SvcError('request.unprocessable', `the request to ${host} was closed`)): void => {
    quiet.end()
    whole.end()
    stop.abort(reason)
  }
  const over = (why: string) => () => {
    close(new SvcError('request.unprocessable', `the request to ${host} ended: ${why}`))
    onOver()
  }
  const quiet = createAlarm(clock, over(`nothing happened for ${idle} ms`))
  const whole = createAlarm(clock, over(`it took more than ${total} ms`))
  quiet.set(idle)
  whole.set(total)

  const body = hasBody ? new TransformStream<Uint8Array, Uint8Array>() : undefined
  const writer = body?.writable.getWriter()
  writer?.closed.catch(() => undefined) // whoever writes next is told
  let written = 0
  const answered = send(body?.readable, signal)
  answered.then(
    () => quiet.set(idle),
    (error: unknown) => void writer?.abort(error).catch(() => undefined),
  )
  const pieces = piecesOf(answered)

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    quiet.set(idle)
    try {
      return await work()
    } catch (error) {
      throw explained(error, host, signal)
    }
  }

  return {
    write: (piece) =>
      attempt(async () => {
        if (writer === undefined) throw new SvcError('request.unprocessable', 'the request has no body: open it with "upload"')
        written += piece.byteLength
        if (written > uploadBytes) throw new SvcError('request.unprocessable', `a body may have ${uploadBytes} bytes`)
        count(piece.byteLength)
        await writer.write(piece)
      }),
    end: () => attempt(async () => writer?.close()),
    read: () =>
      attempt(async () => {
        const { value, done } = await pieces.next()
        if (done === true) return { answer: undefined, bytes: new Uint8Array(), end: true }
        count(value.bytes.byteLength)
        return { ...value, end: false }
      }),
    close,
  }
}

/** Status and headers with the first piece, though it may be empty; each at most `pieceBytes`, without secrets. */
async function* piecesOf(answered: Promise<Answered>): AsyncGenerator<Omit<Piece, 'end'>, void> {
  const { body, filter, ...answer } = await answered
  yield { answer, bytes: new Uint8Array() }
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > streamBytes) throw new SvcError('request.unprocessable', `an answer may have ${streamBytes} bytes`)
    yield* cutUp(filter.push(chunk))
  }
  yield* cutUp(filter.end())
}

function* cutUp(bytes: Uint8Array): Generator<Omit<Piece, 'end'>, void> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield { answer: undefined, bytes: bytes.subarray(at, at + pieceBytes) }
}
