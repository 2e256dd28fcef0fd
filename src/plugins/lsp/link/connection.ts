/**
 * Messages with the program of a language server (subsystems e.4; threat-model §4.12). Requests and answers are matched by `vscode-jsonrpc`,
 * which is loaded when the first server starts.
 *
 * I1 A program of ours runs in a process group of its own, in a clean environment, and all of it is gone when `end` resolves.
 * I2 What may wait for it is bounded, and what it may send and ask in a while; who goes beyond is lost.
 */
import type { Message, MessageConnection, MessageWriter } from 'vscode-jsonrpc/node'
import type { NativeHost } from '../../../ports/plugin.js'
import { createAllowance } from '../../../kernel/allowance.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { timeLimit } from '../../../kernel/patience.js'
import { createInbox, type Inbox, type Rpc } from './inbox.js'
import type { Line, OpenLine } from './lines.js'

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

interface Wait {
  readonly ms: number
  readonly signal?: AbortSignal
}

export interface Program {
  /** Rejects when the server says no, when it takes longer than `ms`, when `signal` aborts, or when the program is gone. */
  request(method: string, params: unknown, wait: Wait): Promise<unknown>
  notify(method: string, params?: unknown): void
  /** Ends the program; resolves when nothing of it runs. Never rejects. */
  end(): Promise<void>
}

/** Messages with one program. It is over when its signal aborts, with the reason. */
interface Talk {
  readonly options: ProgramOptions
  readonly rpc: Rpc
  readonly over: AbortController
  readonly inbox: Inbox
  line: Line | undefined
  connection: MessageConnection | undefined
}

const encoder = new TextEncoder()

export async function openProgram(options: ProgramOptions): Promise<Program> {
  const rpc = await import('./library.js')
  const over = new AbortController()
  const inbox = createInbox({ rpc, clock: options.effects.clock, over: over.signal, onFault: (reason) => lose(talk, reason) })
  const talk: Talk = { options, rpc, over, inbox, line: undefined, connection: undefined }
  const line = await options.open(inbox.push)
  talk.line = line
  inbox.reads(line)
  void line.over.then(async (reason) => {
    await inbox.drained()
    lose(talk, reason)
  })
  const connection = connect(talk, line)
  talk.connection = connection
  return {
    request: (method, params, wait) => request(talk, connection, method, params, wait),
    notify(method, params) {
      if (!over.signal.aborted) connection.sendNotification(method, params).catch(() => undefined)
    },
    async end() {
      if (!over.signal.aborted) {
        over.abort(new Error('the server was ended'))
        inbox.end()
        connection.dispose()
      }
      line.end()
      await line.gone
    },
  }
}

function connect(talk: Talk, line: Line): MessageConnection {
  const { options, rpc, inbox } = talk
  const { effects, adapter } = options
  const told = (text: string) => effects.log.debug('a language server speaks oddly', { adapter, text: text.slice(0, 400) })
  const mayAsk = createAllowance({ most: LIMITS.lsp.asked, window: LIMITS.lsp.askedWindow }, effects.clock.monotonic)
  const connection: MessageConnection = rpc.createMessageConnection(
    inbox.reader,
    writerOf(talk, line),
    { error: told, warn: told, info: told, log: told },
    {
      messageStrategy: {
        handleMessage(message, next) {
          inbox.handled(message)
          return next(message)
        },
      },
    },
  )
  connection.onRequest((method: string, params: unknown) => {
    if (!mayAsk()) return lose(talk, 'it asks without end')
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
  return connection
}

function writerOf(talk: Talk, line: Line): MessageWriter {
  const { rpc, over } = talk
  return {
    onError: new rpc.Emitter<[Error, Message | undefined, number | undefined]>().event,
    onClose: new rpc.Emitter<void>().event,
    write(message) {
      if (over.signal.aborted) return Promise.reject(new Error('the program of the server has ended'))
      if (line.write(framed(JSON.stringify(message)))) return Promise.resolve()
      lose(talk, 'it does not read what it is sent')
      return Promise.reject(new Error('the server does not read what it is sent'))
    },
    end: () => undefined,
    dispose: () => undefined,
  }
}

async function request(
  { options, rpc, over }: Talk,
  connection: MessageConnection,
  method: string,
  params: unknown,
  { ms, signal }: Wait,
): Promise<unknown> {
  const limit = timeLimit(options.effects.clock, ms, `the server did not answer ${method} in time`)
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
}

function lose({ options, over, inbox, line, connection }: Talk, reason: string): void {
  if (over.signal.aborted) return
  over.abort(new Error(reason))
  inbox.end()
  line?.end()
  connection?.dispose()
  options.onLost(reason)
}

function framed(text: string): Uint8Array {
  const body = encoder.encode(text)
  const head = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`)
  const frame = new Uint8Array(head.length + body.length)
  frame.set(head)
  frame.set(body, head.length)
  return frame
}
