/** Prompts of an editor, each an actor until its request is answered. */
import { createActor, fromCallback, toPromise } from 'xstate'
import { type StopReason, type TurnInput, turnMachine } from '../../../machines/acp/turn.machine.js'
import { toFailure } from '../../../protocol/errors.js'
import type { PromptRequestInput } from '../../../protocol/message/message.js'
import type { Client, PromptEnd, PromptOptions } from '../../../published/client/client-types.js'
import type { Teller } from './updates.js'

export interface Turns {
  /** Answers how it ended; throws what kept it from its end. */
  prompt(request: PromptRequestInput): Promise<StopReason>
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
  const logic = (request: PromptRequestInput) =>
    turnMachine.provide({
      actors: {
        follow: fromCallback<{ type: 'abort' }, TurnInput>(({ sendBack, receive }) => {
          const aborted = new AbortController()
          receive(() => aborted.abort())
          const options = { ...asking, onEvent: teller.aside, signal: aborted.signal, attends: true }
          follow(client.prompt(sessionId, request, options)).then(
            (end) => sendBack(end),
            (error: unknown) => sendBack({ type: 'run.failed', failure: toFailure(error) }),
          )
        }),
      },
    })

  async function follow(run: ReturnType<Client['prompt']>) {
    let end: PromptEnd | undefined
    for await (const event of run) {
      teller.event(event)
      if (event.type === 'end') end = event
    }
    if (end?.error !== undefined && !end.error.interrupted)
      return { type: 'run.failed', failure: { code: 'prompt.failed', message: end.error.message, retryable: false } } as const
    return { type: 'run.ended', stopReason: stopReasonOf(end) } as const
  }

  const turns = new Set<ReturnType<typeof createActor<typeof turnMachine>>>()
  return {
    async prompt(request) {
      const turn = createActor(logic(request), { input: { sessionId } })
      turns.add(turn)
      const ended = toPromise(turn).finally(() => turns.delete(turn))
      turn.start()
      const { stopReason, failure } = await ended
      if (failure !== undefined) throw new Error(failure.message)
      return stopReason
    },
    cancel() {
      for (const turn of turns) turn.send({ type: 'cancel.requested' })
    },
    close() {
      for (const turn of turns) turn.send({ type: 'session.closed' })
    },
  }
}

function stopReasonOf(end: PromptEnd | undefined): StopReason {
  if (end === undefined || end.error !== undefined || end.isTakenBack === true) return 'cancelled'
  const info = end.message?.info
  const finish = info?.role === 'assistant' ? info.finish : undefined
  if (finish === 'length' || finish === 'max_tokens') return 'max_tokens'
  return finish === 'content-filter' ? 'refusal' : 'end_turn'
}
