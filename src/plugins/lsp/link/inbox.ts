/**
 * What comes from the program of a language server, until the library has looked at it.
 *
 * I1 Messages that are looked at in one turn, and those that wait for it, are bounded: beyond that the program is not read.
 * I2 What is no message is dropped, and so is what nobody listens to. One with more values than anybody sends is a fault.
 */
import type { Message, MessageReader } from 'vscode-jsonrpc/node'
import type { NativeHost } from '../../../ports/plugin.js'
import { isRecord } from '../../../protocol/text/json.js'
import { foreignExcess, MESSAGE_BOUNDS } from '../../../protocol/text/foreign-json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createMessagePace } from '../../../kernel/message-pace.js'
import { createFrameSplitter } from './frames.js'
import type * as Library from './library.js'

export type Rpc = typeof Library

interface InboxOptions {
  readonly rpc: Rpc
  readonly clock: NativeHost['effects']['clock']
  /** Nothing is taken any more. */
  readonly over: AbortSignal
  /** It sends what it may not. */
  onFault(reason: string): void
}

export interface Inbox {
  push(chunk: Uint8Array): void
  /** What is not read while too much waits. */
  reads(source: Source): void
  /** By which the library gets the messages. */
  readonly reader: MessageReader
  /** The library has taken a message up. */
  handled(message: Message): void
  /** Resolves when everything that came has been looked at. */
  drained(): Promise<void>
  end(): void
}

interface Source {
  pause(): void
  resume(): void
}

interface Waiting {
  readonly options: InboxOptions
  /** By the keys of the library's queue. */
  readonly keys: Set<string>
  /** Why the program is not read. */
  readonly holds: Set<'unread' | 'pace'>
  source: Source | undefined
  notes: number
  deliver(message: Message): void
}

export function createInbox(options: InboxOptions): Inbox {
  const { rpc, clock, over, onFault } = options
  const waiting: Waiting = { options, keys: new Set(), holds: new Set(), source: undefined, notes: 0, deliver: () => undefined }
  const pace = createMessagePace({
    limits: LIMITS.lsp.pace,
    monotonic: clock.monotonic,
    deliver: (body) => take(waiting, body),
    hold: () => hold(waiting, 'pace'),
    release: () => release(waiting, 'pace'),
    onFlood: () => onFault('it sends without end'),
  })
  const frames = createFrameSplitter({ onFrame: pace.push, onFault })
  return {
    push(chunk) {
      if (!over.aborted) frames.push(chunk)
    },
    reads(source) {
      waiting.source = source
      if (waiting.holds.size > 0) source.pause()
    },
    reader: {
      onError: new rpc.Emitter<Error>().event,
      onClose: new rpc.Emitter<void>().event,
      onPartialMessage: new rpc.Emitter<{ messageToken: number; waitingTime: number }>().event,
      listen(callback) {
        waiting.deliver = callback
        return { dispose: () => undefined }
      },
      dispose: () => undefined,
    },
    handled(message) {
      waiting.keys.delete(keyOf(waiting, message) ?? '')
      if (waiting.keys.size < LIMITS.lsp.waiting / 2) release(waiting, 'unread')
    },
    drained: () => pace.drained(),
    end: () => pace.end(),
  }
}

function take(waiting: Waiting, body: Uint8Array): void {
  const { over, onFault } = waiting.options
  if (over.aborted) return
  const excess = foreignExcess(body, MESSAGE_BOUNDS)
  if (excess !== undefined) return onFault(`it sent a message that ${excess}`)
  let message: unknown
  try {
    message = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return // I2
  }
  if (!isMessage(message)) return
  const key = keyOf(waiting, message)
  if (key === undefined) return
  waiting.keys.add(key)
  waiting.deliver(message)
  if (waiting.keys.size >= LIMITS.lsp.waiting) hold(waiting, 'unread')
}

/** I1: it is read when nothing holds it. */
function hold({ holds, source }: Waiting, why: 'unread' | 'pace'): void {
  if (holds.size === 0) source?.pause()
  holds.add(why)
}

function release({ holds, source, options: { over } }: Waiting, why: 'unread' | 'pace'): void {
  if (holds.delete(why) && holds.size === 0 && !over.aborted) source?.resume()
}

/** The key a message has in the queue of the library; undefined for what is dropped. */
function keyOf(waiting: Waiting, message: Message): string | undefined {
  const { Message: kinds } = waiting.options.rpc
  if (kinds.isRequest(message)) return message.id === null ? undefined : `req-${message.id}`
  if (kinds.isNotification(message)) return message.method === HEARD ? noteKey(waiting, message) : undefined
  if (kinds.isResponse(message)) return message.id === null ? undefined : `res-${message.id}`
  return undefined
}

function noteKey(waiting: Waiting, message: Message): string {
  const known = noteKeys.get(message)
  if (known !== undefined) return known
  const made = `not-${++waiting.notes}`
  noteKeys.set(message, made)
  return made
}

/** The one notification that is listened to. */
const HEARD = 'textDocument/publishDiagnostics'

/** Notifications have no id of their own. */
const noteKeys = new WeakMap<Message, string>()

function isMessage(value: unknown): value is Message {
  return isRecord(value) && value['jsonrpc'] === '2.0'
}
