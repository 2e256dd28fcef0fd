/**
 * Messages with an external agent over the standard streams of its program (subsystems l.1; threat-model §4.12).
 *
 * I1 The program runs in a process group of its own, in an environment of its own, and all of it is gone when `end` resolves.
 * I2 What it sends is bounded, a message and all of them; one that sends more has failed. A line that is no message is passed over.
 *    So much of it is taken in a turn of the event loop (`LIMITS.external.pace`); it is not read while more waits, or while what it has told
 *    earlier is unsettled.
 * I3 Requests and answers are matched by the library of the protocol; what an answer says is checked by whoever asked. The library writes on
 *    the error stream of the server about what it cannot use: answers that nobody waits for and updates that cannot be read end here.
 */
import type { AnyMessage, ClientContext } from '@agentclientprotocol/sdk'
import { cut } from '../../kernel/cut.js'
import { createMessagePace, type Earlier, type MessagePace } from '../../kernel/message-pace.js'
import { nextTurn } from '../../kernel/pause.js'
import { messageOf } from '../../protocol/message-of.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLineSplitter } from '../../protocol/plugin/frame-lines.js'
import { isRecord } from '../../protocol/text/json.js'
import { wellFormed } from '../../protocol/text/well-formed.js'
import { foreignExcess, MESSAGE_BOUNDS } from '../../protocol/text/foreign-json.js'
import type { ChildPipe, PipeOptions } from '../../ports/effects.js'

export interface AgentLink {
  request(method: string, params: object): Promise<unknown>
  notify(method: string, params: object): void
  /** The program does nothing more, and is to be ended: nothing of it is heard from here on. */
  hold(): void
  /** Resolves when the program and what it has started are gone. */
  end(): Promise<void>
}

export interface AgentLinkOptions {
  /** Starts the program. */
  open(streams: Pick<PipeOptions, 'inputBacklog' | 'onStdout' | 'onStderr'>): Promise<ChildPipe>
  /** It asks for something; undefined = it is answered that there is no such method. What it rejects with is told to the agent. */
  onRequest(method: string, params: unknown): Promise<object> | undefined
  /** Messages it may send in all; absent = as many as a look may take. */
  readonly most?: number
  /** What it has told that is still being done: it is not read before that. Absent = there is no such thing. */
  readonly earlier?: Earlier
  onUpdate(params: unknown): void
  /** It has ended, or sent what it may not; and the last it wrote to its error stream, which may hold anything. */
  onEnd(how: string, errors: string): void
}

const { messageBytes, messages, requests, inputBacklog, pace: PACE, stderr: KEPT, text: DETAILS } = LIMITS.external
/** Internal error, in JSON-RPC. */
const FAILED = -32603
const UPDATE = 'session/update'
/** What `session/update` is called on its way through the library, which would look at it as the stable protocol has it: who takes it checks it. */
const RAW_UPDATE = '_svc/session/update'
const CANCEL = '$/cancel_request'

export async function openAgentLink({ open, onRequest, onUpdate, onEnd, most = messages, earlier }: AgentLinkOptions): Promise<AgentLink> {
  const { client, RequestError } = await import('@agentclientprotocol/sdk')
  let readable: ReadableStreamDefaultController<AnyMessage> | undefined
  /** Requests of the agent that are not answered yet. */
  let answering = 0
  let errors = ''
  let child: ChildPipe | undefined
  /** Requests that are not answered yet. */
  const asked = new Set<unknown>()

  const ear = openEar({ most, earlier, child: () => child, take, fail })
  function fail(why: string): void {
    ear.end()
    child?.kill()
    onEnd(why, errors.trim())
  }
  function take(line: Uint8Array): void {
    const excess = foreignExcess(line, MESSAGE_BOUNDS)
    if (excess !== undefined) return fail(`it sent a message that ${excess}`)
    try {
      const message: unknown = JSON.parse(new TextDecoder().decode(line))
      const usable = usableIn(message, asked)
      if (usable !== undefined) readable?.enqueue(usable)
    } catch {
      // I2
    }
  }

  const started = await open({
    inputBacklog,
    onStdout: (chunk) => ear.push(chunk),
    onStderr: (chunk) => (errors = `${errors}${new TextDecoder().decode(chunk)}`.slice(-KEPT)),
  })
  child = started
  const connection = client({ name: 'svc' })
    .onRequest('*', async ({ method, params }) => {
      if (answering >= requests) throw new RequestError(FAILED, `at most ${requests} requests are answered at a time`)
      const answer = onRequest(method, params)
      if (answer === undefined) throw RequestError.methodNotFound(method)
      answering++
      try {
        return await answer
      } catch (error) {
        throw new RequestError(FAILED, messageOf(error))
      } finally {
        answering--
      }
    })
    .onNotification('*', ({ method, params }) => {
      if (method !== RAW_UPDATE) return
      try {
        onUpdate(params)
      } catch {
        // I3
      }
    })
    .connect({
      readable: new ReadableStream<AnyMessage>({ start: (controller) => void (readable = controller) }),
      writable: new WritableStream<AnyMessage>({
        write(message) {
          if ('id' in message && 'method' in message) asked.add(message.id)
          if (!started.write(`${JSON.stringify(message)}\n`)) throw new Error('the agent does not read its input')
        },
      }),
    })
  connection.closed.catch(() => undefined)
  void started.ended.then(async ({ exitCode, signal }) => {
    await ear.drained()
    await nextTurn() // In which what it said last is heard.
    onEnd(
      exitCode === null ? `its program was ended by ${signal ?? 'a signal'}` : `its program has ended with code ${exitCode}`,
      errors.trim(),
    )
    connection.close()
  })
  return {
    async request(method, params) {
      try {
        return await (connection.agent satisfies ClientContext).request(method, params)
      } catch (error) {
        throw explained(error)
      }
    },
    notify: (method, params) => void connection.agent.notify(method, params).catch(() => undefined),
    hold() {
      ear.end()
      started.signal('SIGSTOP')
    },
    async end() {
      ear.end()
      connection.close()
      started.closeInput()
      started.kill()
      await started.gone
    },
  }
}

interface EarOptions {
  readonly earlier: Earlier | undefined
  readonly most: number
  child(): ChildPipe | undefined
  /** One message; valid during the call only. */
  take(line: Uint8Array): void
  fail(why: string): void
}

/** I2 */
function openEar({
  most,
  earlier,
  child,
  take,
  fail,
}: EarOptions): Pick<MessagePace, 'drained' | 'end'> & { push(chunk: Uint8Array): void } {
  const pace = createMessagePace({
    // Of all it sends, however long that takes.
    limits: { ...PACE, inWindow: most, window: Number.POSITIVE_INFINITY },
    monotonic: () => 0,
    deliver: take,
    hold: () => child()?.pause(),
    release: () => child()?.resume(),
    onFlood: () => fail(`it sent more than ${most} messages`),
    earlier,
  })
  const output = createLineSplitter(messageBytes, {
    onLine: pace.push,
    onOversized: () => fail(`it sent a message of more than ${messageBytes} bytes`),
  })
  return { push: output.push, drained: pace.drained, end: pace.end }
}

/** With what an answer of failure says beside its sentence, which is often no more than that something was wrong inside. */
function explained(error: unknown): unknown {
  const data = error instanceof Error && 'data' in error ? error.data : undefined
  const details = typeof data === 'string' ? data : isRecord(data) ? (data['details'] ?? data['message']) : undefined
  if (typeof details !== 'string' || details.trim() === '') return error
  const said = cut(wellFormed(details.trim()), DETAILS)
  return new Error(`${messageOf(error)}: ${said.replace(/\.$/, '')}`, { cause: error })
}

/** I3 */
function usableIn(message: unknown, asked: Set<unknown>): AnyMessage | undefined {
  if (!isRecord(message)) return undefined
  const { method, id, params } = message
  if (!('method' in message)) return isAnswer(message) && asked.delete(id) ? message : undefined
  if (isCall(message))
    return 'id' in message || (method === CANCEL && isRecord(params) && 'requestId' in params) ? message : updateIn(message)
  return undefined
}

function isAnswer(message: object): message is AnyMessage {
  return 'result' in message || 'error' in message
}

function isCall(message: object): message is AnyMessage & { readonly method: string } {
  return 'method' in message && typeof message.method === 'string'
}

function updateIn(message: AnyMessage & { readonly method: string }): AnyMessage | undefined {
  return message.method === UPDATE ? { ...message, method: RAW_UPDATE } : undefined
}
