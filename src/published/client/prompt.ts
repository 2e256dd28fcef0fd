/**
 * One prompt and its answer.
 *
 * I1 The event stream is open before the prompt is sent, so nothing of the answer is missed.
 * I2 The prompt has an id before it is sent, so sending it again after a lost connection does nothing twice.
 * I3 After a gap the state of the server is read and told as what was missed; where events were lost for good, the gap is told first.
 * I4 An abort is passed on to the server once the prompt may have reached it, and nothing is sent after it: a prompt that waits is taken back,
 *    its run is aborted, and the run it waits for goes on. When that does not end the run within `ABORT_WAIT`, the iteration fails.
 */
import type { Message, PromptRequestInput } from '../../protocol/message/message.js'
import { createAsking } from './asking.js'
import { waitingRequests } from './attend.js'
import { catchUp, openRequests } from './catch-up.js'
import type { PromptEnd, PromptEvent, PromptOptions } from './client-types.js'
import { SvcClientError } from './error.js'
import { openEvents } from './events.js'
import type { Operations, SvcEvent } from './operation-types.js'
import { ATTEMPTS, patiently } from './patience.js'
import { type Platform, pause } from './platform.js'
import { endOwn } from './take-back.js'
import { createTranscript, TAKEN_BACK, type Transcript } from './transcript.js'
import type { Transport } from './transport.js'

const ABORT_WAIT = 5000

interface Context {
  readonly operations: Pick<Operations, 'sessions' | 'interactions'>
  readonly transport: Transport
  readonly platform: Platform
}

export interface Prompt {
  readonly sessionId: string
  readonly messageId: string
  readonly request: PromptRequestInput
  /** Whether the prompt may have been submitted before, under this id. */
  readonly known: boolean
}

export async function* followPrompt(context: Context, prompt: Prompt, options: PromptOptions): AsyncGenerator<PromptEvent> {
  const { operations } = context
  const { sessionId, messageId, request } = prompt
  const { signal, attempts = ATTEMPTS, abortQueue, attends = false } = options
  signal?.throwIfAborted()
  const stop = new AbortController()
  const failures: unknown[] = []
  const fail = (error: unknown) => {
    failures.push(error)
    stop.abort()
  }
  let sent: Promise<unknown> | undefined = prompt.known ? Promise.resolve() : undefined
  let isSent = false
  let takenBack = false
  const onAbort = () => (sent === undefined ? stop.abort() : void takeBack(sent).catch(fail))
  const transcript = createTranscript(sessionId, messageId, request.noReply !== true, attends)
  const patience = { platform: context.platform, attempts, signal: stop.signal }
  const asking = createAsking(operations.interactions, options, fail)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const open = () => openEvents(context, { sessionId, tail: true, attempts, signal: stop.signal })
    // Whoever sits with the session waits for a server that is away; everybody else is told at once.
    const events = attends ? (await patiently(patience, open)).value : await open()
    const tries = signal?.aborted ? 0 : await submit() // I4
    if (attends) yield* tell((await patiently(patience, () => waitingRequests(operations.interactions, sessionId, stop.signal))).value)
    if (tries > 1 || prompt.known) yield* tell(await missed())
    for await (const event of transcript.ended ? [] : events) {
      if (event.type !== 'gap') yield* tell([event])
      else {
        if (event.reason !== 'unseen') {
          options.onEvent?.(event)
          yield event
        }
        const events = await missed()
        asking.keep(openRequests(events))
        yield* tell(events)
      }
      if (transcript.ended) break
    }
    if (!transcript.ended) throw new Error('The event stream ended before the run.')
    yield (await patiently(patience, () => endOf(operations, { sessionId, signal: stop.signal }, transcript))).value
  } catch (error) {
    // What ended the stream says more than that it ended.
    if (!takenBack) throw failures[0] ?? (signal?.aborted ? signal.reason : error)
    yield { type: 'end', message: undefined, text: '', error: TAKEN_BACK, isTakenBack: true }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    asking.stop()
    stop.abort()
  }

  /** Answers how many tries it took. */
  async function submit(): Promise<number> {
    isSent = true
    const body = { ...request, messageId }
    const submitted = patiently(patience, () => operations.sessions.prompt({ sessionId, body, signal: stop.signal }))
    sent = submitted.catch(() => undefined)
    return (await submitted).tries
  }

  async function missed(): ReturnType<typeof catchUp> {
    return (await patiently(patience, () => catchUp(operations, sessionId, messageId, stop.signal))).value
  }

  /** The request is under way or done: only then is it known whether the prompt waits. */
  async function takeBack(answered: Promise<unknown>): Promise<void> {
    const waited = pause(context.platform, ABORT_WAIT, stop.signal).then(() => stop.abort())
    try {
      await Promise.race([answered, waited])
      const ending = { sessionId, messageId, transcript, abortQueue, isSent: () => isSent, signal: stop.signal }
      takenBack = await endOwn(operations, context.platform, ending)
      if (takenBack) stop.abort()
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
    await waited
  }

  function* tell(events: Iterable<SvcEvent>): Generator<PromptEvent> {
    for (const event of events) {
      options.onEvent?.(event)
      for (const told of transcript.accept(event)) {
        asking.see(told)
        yield told
      }
    }
  }
}

interface Place {
  readonly sessionId: string
  readonly signal: AbortSignal
}

async function endOf(operations: Context['operations'], place: Place, { answerId, problem }: Transcript): Promise<PromptEnd> {
  const message = answerId === undefined ? undefined : await messageOf(operations, { ...place, messageId: answerId })
  return { type: 'end', message, text: textOf(message), error: problem, ...(problem === TAKEN_BACK && { isTakenBack: true as const }) }
}

async function messageOf(
  { sessions }: Context['operations'],
  message: Place & { readonly messageId: string },
): Promise<Message | undefined> {
  try {
    return await sessions.messages.get(message)
  } catch (error) {
    // Deleted meanwhile, or with its session.
    if (error instanceof SvcClientError && error.code === 'resource.not_found') return undefined
    throw error
  }
}

function textOf(message: Message | undefined): string {
  const texts = message?.parts.flatMap((part) => (part.type === 'text' && part.synthetic !== true ? [part.text] : []))
  return texts?.join('') ?? ''
}
