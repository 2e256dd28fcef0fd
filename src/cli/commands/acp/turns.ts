/**
 * Prompts of an editor, each an actor until its request is answered.
 *
 * I1 A prompt that joins a run is answered by the messages of that run: of each, one of those that follow it tells, who heard of it first.
 */
import { createActor, fromCallback, toPromise } from 'xstate'
import { type StopReason, type TurnInput, turnMachine } from '../../../machines/acp/turn.machine.js'
import { toFailure } from '../../../protocol/errors.js'
import type { PromptRequestInput } from '../../../protocol/message/message.js'
import type { Client, PromptEnd, PromptEvent, PromptOptions, PromptRun } from '../../../published/client/client-types.js'
import { countSpent, type Spent, type Usage } from './spent.js'
import type { Teller } from './updates.js'

export interface Turns {
  /** Answers how it ended, and what it has used; throws what kept it from its end. */
  prompt(request: PromptRequestInput): Promise<{ readonly stopReason: StopReason; readonly usage?: Usage }>
  /** Of everything that is under way. */
  cancel(): void
  /** Nobody waits for what is under way any more. */
  close(): void
}

interface Parts {
  readonly client: Client
  readonly sessionId: string
  readonly teller: Teller
  readonly asking: Required<Pick<PromptOptions, 'onPermission' | 'onQuestion'>>
}

export function createTurns({ client, sessionId, teller, asking }: Parts): Turns {
  /** Who tells of a message (I1), while any prompt is under way. */
  const told = new Map<string, PromptRun>()
  const logic = (request: PromptRequestInput, spent: Spent) =>
    turnMachine.provide({
      actors: {
        follow: fromCallback<{ type: 'abort' }, TurnInput>(({ sendBack, receive }) => {
          const aborted = new AbortController()
          const left = new AbortController()
          receive(() => aborted.abort())
          const aside: Teller['aside'] = (event) => {
            if (left.signal.aborted) return
            spent.see(event)
            teller.aside(event)
          }
          const options = { ...asking, onEvent: aside, signal: aborted.signal, attends: true }
          follow(client.prompt(sessionId, request, options), left.signal).then(
            (end) => sendBack(end),
            (error: unknown) => sendBack({ type: 'run.failed', failure: toFailure(error) }),
          )
          // What runs there goes on: it is only not followed any more.
          return () => left.abort()
        }),
      },
    })

  async function follow(run: PromptRun, left: AbortSignal) {
    let end: PromptEnd | undefined
    for await (const event of run) {
      if (left.aborted) break
      if (tells(run, event)) teller.event(event)
      if (event.type === 'end') end = event
    }
    if (end?.error !== undefined && !end.error.interrupted)
      return { type: 'run.failed', failure: { code: 'prompt.failed', message: end.error.message, retryable: false } } as const
    return { type: 'run.ended', stopReason: stopReasonOf(end) } as const
  }

  function tells(run: PromptRun, event: PromptEvent): boolean {
    const message = messageOf(event)
    if (message === undefined) return true
    const first = told.get(message) ?? run
    told.set(message, first)
    return first === run
  }

  const turns = new Set<ReturnType<typeof createActor<typeof turnMachine>>>()
  return {
    async prompt(request) {
      const spent = countSpent(sessionId)
      const turn = createActor(logic(request, spent), { input: { sessionId } })
      turns.add(turn)
      const ended = toPromise(turn).finally(() => {
        turns.delete(turn)
        if (turns.size === 0) told.clear()
      })
      turn.start()
      const { stopReason, failure } = await ended
      if (failure !== undefined) throw new Error(failure.message)
      const usage = spent.usage()
      return { stopReason, ...(usage !== undefined && { usage }) }
    },
    cancel() {
      for (const turn of turns) turn.send({ type: 'cancel.requested' })
    },
    close() {
      for (const turn of turns) turn.send({ type: 'session.closed' })
    },
  }
}

/** The message that an event is of; undefined where it is of none. */
function messageOf(event: PromptEvent): string | undefined {
  if (event.type === 'tool') return event.part.messageId
  if (event.type === 'end') return event.message?.info.id
  return 'messageId' in event ? event.messageId : undefined
}

function stopReasonOf(end: PromptEnd | undefined): StopReason {
  if (end === undefined || end.error !== undefined || end.isTakenBack === true) return 'cancelled'
  const info = end.message?.info
  const finish = info?.role === 'assistant' ? info.finish : undefined
  if (finish === 'length' || finish === 'max_tokens') return 'max_tokens'
  return finish === 'content-filter' ? 'refusal' : 'end_turn'
}
