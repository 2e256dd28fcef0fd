/**
 * Messages with the program of a language server (subsystems e.4; threat-model §4.12). Requests and answers are matched by `vscode-jsonrpc`,
 * which is loaded when the first server starts.
 *
 * I1 A program of ours runs in a process group of its own, in a clean environment, and all of it is gone when `end` resolves.
 * I2 Messages that are looked at in one turn, and those that wait for it, are bounded: beyond that the program is not read. What may wait for it is bounded, too, and what it
 *    may send and ask in a while; who goes beyond is lost.
 * I3 What is no message is dropped, and so is what nobody listens to. One with more values than anybody sends is the end of the program.
 */
import type { Message, MessageConnection, MessageReader, MessageWriter } from 'vscode-jsonrpc/node'
import type { NativeHost } from '../../../ports/plugin.js'
import { createAllowance } from '../../../kernel/allowance.js'
import { isRecord } from '../../../protocol/text/json.js'
import { foreignExcess, MESSAGE_BOUNDS } from '../../../protocol/text/foreign-json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createMessagePace } from '../../../kernel/message-pace.js'
import { timeLimit } from '../../../kernel/patience.js'
import { createFrameSplitter } from './frames.js'
import type { OpenLine } from './lines.js'

export interface ProgramOptions {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'log'>
  readonly adapter: string
  readonly open: OpenLine
  /** A question of the server; what it throws with a `code` is the error it gets. */
  onRequest(method: string, params: unknown): unknown
  onNotification(method: string, params: unknown): void
  /** It ended or broke, and not by `end`. Called once. */
  onLost(reason: string): void
}

export interface Program {
  /** Rejects when the server says no, when it takes longer than `ms`, when `signal` aborts, or when the program is gone. */
  request(method: string, params: unknown, wait: { readonly ms: number; readonly signal?: AbortSignal }): Promise<unknown>
  notify(method: string, params?: unknown): void
  /** Ends the program; resolves when nothing of it runs. Never rejects. */
  end(): Promise<void>
}

const encoder = new TextEncoder()

export async function openProgram(options: ProgramOptions): Promise<Program> {
  const rpc = await import('./library.js')
  const { effects, adapter } = options
  const { clock, log } = effects
  const over = new AbortController()
  const waiting = new Set<string>() // I2, by the keys of the library's queue
  let notes = 0
  let deliver: (message: Message) => void = () => undefined
  const mayAsk = createAllowance({ most: LIMITS.lsp.asked, window: LIMITS.lsp.askedWindow }, clock.monotonic)

  const holds = new Set<'unread' | 'pace'>()
  const pace = createMessagePace({
    limits: LIMITS.lsp.pace,
    monotonic: clock.monotonic,
    deliver: take,
    hold: () => hold('pace'),
    release: () => release('pace'),
    onFlood: () => lose('it sends without end'),
  })

  const frames = createFrameSplitter({ onFrame: pace.push, onFault: lose })
  let opened: Awaited<ReturnType<OpenLine>> | undefined
  const line = await options.open((chunk) => {
    if (!over.signal.aborted) frames.push(chunk)
  })
  opened = line
  if (holds.size > 0) line.pause()
  void line.over.then(async (reason) => {
    await pace.drained()
    lose(reason)
  })

  const connection: MessageConnection = rpc.createMessageConnection(
    reader(),
    writer(),
    { error: told, warn: told, info: told, log: told },
    {
      messageStrategy: {
        handleMessage(message, next) {
          waiting.delete(keyOf(message) ?? '')
          if (waiting.size < LIMITS.lsp.waiting / 2) release('unread')
          return next(message)
        },
      },
    },
  )
  connection.onRequest((method: string, params: unknown) => {
    if (!mayAsk()) return lose('it asks without end')
    try {
      return options.onRequest(method, params) ?? null
    } catch (error) {
      const code = isRecord(error) && typeof error['code'] === 'number' ? error['code'] : -32603
      return new rpc.ResponseError(code, error instanceof Error ? error.message : 'refused')
    }
  })
  connection.onNotification((method: string, params: unknown) => options.onNotification(method, params))
  connection.onError(() => undefined)
  connection.listen()

  function told(text: string): void {
    log.debug('a language server speaks oddly', { adapter, text: text.slice(0, 400) })
  }

  function reader(): MessageReader {
    const errors = new rpc.Emitter<Error>()
    const closes = new rpc.Emitter<void>()
    const parts = new rpc.Emitter<{ messageToken: number; waitingTime: number }>()
    return {
      onError: errors.event,
      onClose: closes.event,
      onPartialMessage: parts.event,
      listen(callback) {
        deliver = callback
        return { dispose: () => undefined }
      },
      dispose: () => undefined,
    }
  }

  function writer(): MessageWriter {
    const errors = new rpc.Emitter<[Error, Message | undefined, number | undefined]>()
    const closes = new rpc.Emitter<void>()
    return {
      onError: errors.event,
      onClose: closes.event,
      write(message) {
        if (over.signal.aborted) return Promise.reject(new Error('the program of the server has ended'))
        if (line.write(framed(JSON.stringify(message)))) return Promise.resolve()
        lose('it does not read what it is sent')
        return Promise.reject(new Error('the server does not read what it is sent'))
      },
      end: () => undefined,
      dispose: () => undefined,
    }
  }

  function take(body: Uint8Array): void {
    if (over.signal.aborted) return
    const excess = foreignExcess(body, MESSAGE_BOUNDS)
    if (excess !== undefined) return lose(`it sent a message that ${excess}`)
    let message: unknown
    try {
      message = JSON.parse(new TextDecoder().decode(body))
    } catch {
      return // I3
    }
    if (!isMessage(message)) return
    const key = keyOf(message)
    if (key === undefined) return
    waiting.add(key)
    deliver(message)
    if (waiting.size >= LIMITS.lsp.waiting) hold('unread')
  }

  /** I2: it is read when nothing holds it. */
  function hold(why: 'unread' | 'pace'): void {
    if (holds.size === 0) opened?.pause()
    holds.add(why)
  }

  function release(why: 'unread' | 'pace'): void {
    if (holds.delete(why) && holds.size === 0 && !over.signal.aborted) opened?.resume()
  }

  /** The key a message has in the queue of the library; undefined for what is dropped. */
  function keyOf(message: Message): string | undefined {
    if (rpc.Message.isRequest(message)) return message.id === null ? undefined : `req-${message.id}`
    if (rpc.Message.isNotification(message)) return message.method === HEARD ? noteKey(message) : undefined
    if (rpc.Message.isResponse(message)) return message.id === null ? undefined : `res-${message.id}`
    return undefined
  }

  function noteKey(message: Message): string {
    const known = noteKeys.get(message)
    if (known !== undefined) return known
    const made = `not-${++notes}`
    noteKeys.set(message, made)
    return made
  }

  function lose(reason: string): void {
    if (over.signal.aborted) return
    over.abort(new Error(reason))
    pace.end()
    line.end()
    connection.dispose()
    options.onLost(reason)
  }

  return {
    async request(method, params, { ms, signal }) {
      const limit = timeLimit(clock, ms, `the server did not answer ${method} in time`)
      const cancel = new rpc.CancellationTokenSource()
      const ended = AbortSignal.any([limit.signal, over.signal, ...(signal === undefined ? [] : [signal])])
      let stop = (): void => undefined
      const aborted = new Promise<never>((_resolve, reject) => {
        stop = () => reject(ended.reason instanceof Error ? ended.reason : new Error('aborted'))
        if (ended.aborted) stop()
        else ended.addEventListener('abort', stop, { once: true })
      })
      try {
        const answer = over.signal.aborted ? aborted : connection.sendRequest<unknown>(method, params, cancel.token)
        answer.catch(() => undefined)
        return await Promise.race([answer, aborted])
      } catch (error) {
        if (ended.aborted && !over.signal.aborted) cancel.cancel()
        throw error
      } finally {
        ended.removeEventListener('abort', stop)
        limit.clear()
        cancel.dispose()
      }
    },
    notify(method, params) {
      if (!over.signal.aborted) connection.sendNotification(method, params).catch(() => undefined)
    },
    async end() {
      if (!over.signal.aborted) {
        over.abort(new Error('the server was ended'))
        pace.end()
        connection.dispose()
      }
      line.end()
      await line.gone
    },
  }
}

function framed(text: string): Uint8Array {
  const body = encoder.encode(text)
  const head = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`)
  const frame = new Uint8Array(head.length + body.length)
  frame.set(head)
  frame.set(body, head.length)
  return frame
}

/** The one notification that is listened to. */
const HEARD = 'textDocument/publishDiagnostics'

/** Notifications have no id of their own. */
const noteKeys = new WeakMap<Message, string>()

function isMessage(value: unknown): value is Message {
  return isRecord(value) && value['jsonrpc'] === '2.0'
}
