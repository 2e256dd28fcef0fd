/**
 * What a host and one package say to each other, frame by frame (plugin-protocol §4). It hides nothing: what is no frame, and what nobody waits
 * for, is kept.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { LIMITS } from '../../../../protocol/limits.js'
import { PluginFrame } from '../../../../protocol/plugin/plugin-frame.js'
import { isRecord } from '../../../../protocol/text/json.js'

export type Reply = { readonly result: unknown } | { readonly error: string }

export interface Asked {
  readonly method: string
  readonly params: unknown
  readonly owner: unknown
  /** Whether it may be answered. */
  readonly hasId: boolean
}

interface Streamed {
  readonly reply: Reply
  readonly items: readonly unknown[]
  readonly error?: string
}

export interface Conversation {
  /** Frames the package sent that nobody waits for. */
  readonly strays: readonly string[]
  /** Lines of its output that are no frames. */
  readonly nonsense: readonly string[]
  readonly asked: readonly Asked[]
  /** What the host answers, by method. */
  answers: Readonly<Record<string, unknown>>
  /** A line of its output. */
  take(line: Uint8Array): void
  /** Rejects when nothing is answered in time, or it ends before. */
  call(method: string, params: unknown, timeoutMs?: number): Promise<Reply>
  /** As `call`, with what the stream it opens has said when that ends; `during` may send meanwhile. */
  stream(method: string, params: object, during?: (streamId: string) => void): Promise<Streamed>
  send(frame: object): void
  /** A line that was longer than a frame may be. */
  overlong(): void
  /** Whoever waits hears why nothing comes any more. */
  end(why: string): void
}

interface Waiting {
  resolve(reply: Reply): void
  reject(error: Error): void
}

interface Opened {
  readonly items: unknown[]
  end(error?: string): void
}

interface Held {
  readonly strays: string[]
  readonly nonsense: string[]
  readonly asked: Asked[]
  readonly waiting: Map<number, Waiting>
  readonly streams: Map<string, Opened>
  answers: Readonly<Record<string, unknown>>
  lastId: number
  why: string | undefined
}

/** Longer than anything takes that answers. */
const PATIENCE = LIMITS.plugins.callTimeout
const SHOWN = 200

interface Sides {
  write(line: string): void
  /** What it wrote to its log last, to be told beside what it did not do. */
  lastWords(): string
  /** Why the host does not answer, whatever the test says. */
  refusal(method: string, params: unknown): string | undefined
}

export function createConversation(instanceId: string, { write, lastWords, refusal }: Sides): Conversation {
  const held: Held = {
    strays: [],
    nonsense: [],
    asked: [],
    waiting: new Map(),
    streams: new Map(),
    answers: {},
    lastId: 0,
    why: undefined,
  }
  const send = (frame: object) => write(`${JSON.stringify(frame)}\n`)

  async function call(method: string, params: unknown, timeoutMs = PATIENCE): Promise<Reply> {
    if (held.why !== undefined) throw new Error(held.why)
    const id = ++held.lastId
    const replied = new Promise<Reply>((resolve, reject) => held.waiting.set(id, { resolve, reject }))
    send({ id, method, params })
    try {
      return await within(replied, timeoutMs, () => `${method} was not answered within ${timeoutMs / 1000} s${lastWords()}`)
    } finally {
      held.waiting.delete(id)
    }
  }

  return {
    strays: held.strays,
    nonsense: held.nonsense,
    asked: held.asked,
    get answers() {
      return held.answers
    },
    set answers(now) {
      held.answers = now
    },
    take: (line) => take(held, Buffer.from(line).toString('utf8'), send, refusal),
    call,
    async stream(method, params, during) {
      const requestId = ++held.lastId
      const streamId = `${instanceId}-stream-${requestId}`
      const items: unknown[] = []
      const closed = new Promise<string | undefined>((resolve) => held.streams.set(streamId, { items, end: resolve }))
      try {
        const reply = await call(method, { ...params, streamId, requestId })
        if ('error' in reply) return { reply, items }
        during?.(streamId)
        const error = await within(closed, PATIENCE, () => `its stream had not ended after ${PATIENCE / 1000} s${lastWords()}`)
        return { reply, items, ...(error !== undefined && { error }) }
      } finally {
        held.streams.delete(streamId)
        send({ method: '$/cancelStream', params: { streamId, requestId } })
      }
    },
    send,
    overlong: () => void held.nonsense.push('a line of more than 1 MiB'),
    end(why) {
      held.why = why
      for (const { reject } of held.waiting.values()) reject(new Error(why))
      for (const stream of held.streams.values()) stream.end(why)
    },
  }
}

/** Rejects with `late` when the time is over. */
async function within<T>(awaited: Promise<T>, ms: number, late: () => string): Promise<T> {
  const over = new AbortController()
  const limit = delay(ms, undefined, { signal: over.signal }).then(() => Promise.reject(new Error(late())))
  try {
    return await Promise.race([awaited, limit])
  } finally {
    over.abort()
    limit.catch(() => undefined)
  }
}

function take(held: Held, text: string, send: (frame: object) => void, refusal: Sides['refusal']): void {
  if (text.trim() === '') return
  const frame = frameOf(text)
  if (frame === undefined) return void held.nonsense.push(text.slice(0, SHOWN))
  if (frame.stream !== undefined) return takeStream(held, frame, text)
  if (frame.method !== undefined) return serve(held, frame, send, refusal)
  const call = typeof frame.id === 'number' ? held.waiting.get(frame.id) : undefined
  if (call === undefined) return void held.strays.push(text.slice(0, SHOWN))
  call.resolve(typeof frame.error === 'string' ? { error: frame.error } : { result: frame.result ?? null })
}

function takeStream({ streams, strays }: Held, { stream }: PluginFrame, text: string): void {
  const opened = streams.get(stream?.streamId ?? '')
  if (opened === undefined || stream === undefined) return void strays.push(text.slice(0, SHOWN))
  if (stream.kind === 'item') opened.items.push(stream.value)
  if (stream.kind === 'end') opened.end()
  if (stream.kind === 'error') opened.end(stream.error ?? 'an error without a text')
}

function serve(
  { asked, answers }: Held,
  { id, method = '', params, owner }: PluginFrame,
  send: (frame: object) => void,
  refusal: Sides['refusal'],
): void {
  asked.push({ method, params, owner, hasId: typeof id === 'number' })
  if (typeof id !== 'number') return
  const refused = answers[method] === undefined ? undefined : refusal(method, params)
  if (refused !== undefined) return send({ id, error: refused })
  const answer = answers[method]
  if (answer === undefined) return send({ id, error: `${method} is not available: it is not answered in this test` })
  if (isRecord(answer) && typeof answer['$error'] === 'string') return send({ id, error: answer['$error'] })
  if (!PLAIN.test(method) && !(isRecord(answer) && 'output' in answer))
    return send({ id, error: `the answer of this test for ${method} is none of a broker, which answers { "output": … }` })
  send({ id, result: method === 'host.workspace.read' ? bytesOf(answer) : answer })
}

/** Methods that answer something else than `{ output }`. */
const PLAIN = /^host\.(?:config|workspace|event)\.|\.cancel$/

/** Of a file, as the host sends them: those of a text, or of what is no text, in Base64. */
function bytesOf(answer: unknown): unknown {
  if (typeof answer === 'string') return [...Buffer.from(answer)]
  return isRecord(answer) && typeof answer['$base64'] === 'string' ? [...Buffer.from(answer['$base64'], 'base64')] : answer
}

function frameOf(text: string): PluginFrame | undefined {
  try {
    const read = PluginFrame.safeParse(JSON.parse(text))
    return read.success ? read.data : undefined
  } catch {
    return undefined
  }
}
