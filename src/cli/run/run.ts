/**
 * `svc run`: one prompt, its answer as it comes, and the end.
 *
 * I1 The event stream is open before the prompt is sent, so nothing of the answer is missed.
 * I2 When the server no longer keeps events of the run, its state is read again, and the person is told.
 * I3 Ctrl-C aborts the run on the server and waits for it to end, `ABORT_WAIT` at most; a second one stops at once.
 */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { catchUp, openRequests } from '../../client/catch-up.js'
import { createClient as createTypedClient } from '../../client/client.js'
import { createIds } from '../../protocol/ids.js'
import { messageRoutes } from '../../protocol/message/message.js'
import { sessionRoutes } from '../../protocol/session/session.js'
import { createAnswers } from './answers.js'
import type { RunOptions } from '../arguments.js'
import type { Client } from '../client.js'
import { connect } from '../connection.js'
import { type EventText, type Gap, openEvents } from './event-stream.js'
import { failureText } from '../failure.js'
import { readPrompt } from './prompt-input.js'
import { readEvent } from './read-event.js'
import { createTerminal, type Terminal } from '../terminal.js'
import { createTranscript, type Line } from './transcript.js'

const ABORT_WAIT = 2000

/** Runs one prompt; answers the exit code: 0 answered, 1 failed or interrupted. */
export async function run(options: RunOptions): Promise<number> {
  const prompt = options.prompt ?? (await readPrompt(process.stdin))
  const terminal = createTerminal()
  const connection = await connect(options.server)
  try {
    return await converse(connection.client, prompt, options, terminal)
  } finally {
    await connection.close()
  }
}

async function converse(client: Client, prompt: string, options: RunOptions, terminal: Terminal): Promise<number> {
  const sessionId = await findSession(client, options)
  const stop = new AbortController()
  const events = await openEvents(client, sessionId, stop.signal)
  const messageId = createIds({ now: Date.now, randomBytes }).next('msg')
  const transcript = createTranscript(sessionId, messageId)
  const answers = createAnswers(client, options.unattended && options.allow === 'ask' ? 'wait' : options.allow, terminal)
  const interruption = onInterrupt(() => abort(client, sessionId, stop, terminal))
  try {
    await submit(client, sessionId, messageId, prompt, options)
    for await (const told of events) {
      for (const text of typeof told === 'string' ? [told] : await missed(told)) {
        if (options.json) terminal.record(text)
        const event = readEvent(text)
        for (const line of event === undefined ? [] : transcript.accept(event)) {
          if (line.type === 'end') return line.failed || interruption.happened ? 1 : 0
          show(line)
        }
      }
    }
    return 1
  } catch (error) {
    if (stop.signal.aborted) return 1
    throw error
  } finally {
    interruption.forget()
    stop.abort()
  }

  function show(line: Exclude<Line, { type: 'end' }>): void {
    if (line.type === 'permission') answers.permission(line.request).catch(report)
    else if (line.type === 'question') answers.question(line.request).catch(report)
    else if (line.type === 'settled') answers.settled(line.requestId)
    else if (line.type === 'error') terminal.error(line.text)
    else if (!options.json) print(line, terminal)
  }

  /** What the server keeps of the run, as the events that led to it. */
  async function missed(gap: Gap): Promise<readonly EventText[]> {
    terminal.note('the server no longer keeps some events of this run; what happened is read again')
    if (options.json) terminal.record(JSON.stringify(gap))
    const { url, token } = client.endpoint
    const events = await catchUp(createTypedClient({ baseUrl: url, token }), sessionId, messageId, stop.signal)
    answers.keep(openRequests(events))
    return events.map((event) => JSON.stringify(event))
  }

  function report(error: unknown): void {
    terminal.error(failureText(error))
  }
}

function print(line: Extract<Line, { type: 'text' | 'break' | 'note' }>, terminal: Terminal): void {
  if (line.type === 'text') terminal.text(line.text)
  else if (line.type === 'break') terminal.break()
  else terminal.note(line.text)
}

async function findSession(client: Client, options: RunOptions): Promise<string> {
  if (options.session !== undefined) return (await client.call(sessionRoutes.get, { params: { session_id: options.session } })).id
  const directory = resolve(options.directory ?? '.')
  return (await client.call(sessionRoutes.create, { query: { directory }, body: {} })).id
}

async function submit(client: Client, sessionId: string, messageId: string, prompt: string, options: RunOptions): Promise<void> {
  const body = {
    messageId,
    parts: [{ type: 'text', text: prompt }],
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.variant === undefined ? {} : { variant: options.variant }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.unattended ? { unattended: true } : {}),
  }
  await client.call(messageRoutes.prompt, { params: { session_id: sessionId }, body })
}

function abort(client: Client, sessionId: string, stop: AbortController, terminal: Terminal): void {
  terminal.note('interrupted')
  AbortSignal.timeout(ABORT_WAIT).addEventListener('abort', () => stop.abort())
  client.call(messageRoutes.abort, { params: { session_id: sessionId }, signal: stop.signal }).catch((error: unknown) => {
    if (!(error instanceof SvcError)) return
    terminal.error(failureText(error))
    stop.abort()
  })
}

function onInterrupt(first: () => void): { readonly happened: boolean; forget(): void } {
  let happened = false
  const listener = () => {
    if (happened) process.exit(1)
    happened = true
    first()
  }
  process.on('SIGINT', listener)
  process.on('SIGTERM', listener)
  return {
    get happened() {
      return happened
    },
    forget() {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    },
  }
}
