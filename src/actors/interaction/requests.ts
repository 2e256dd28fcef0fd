/**
 * The requests that are asked right now: an actor for each.
 *
 * I1 A request is listed from the commit of its row to the commit that ends it, and no longer when that is heard.
 */
import { laidOut } from '../../kernel/machine/laid-out.js'
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromPromise, waitFor } from 'xstate'
import { type InteractionEnd, interactionMachine } from '../../machines/interaction/interaction.machine.js'
import type { InteractionRow } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'
import type { ActorRegistry } from '../../kernel/roots.js'

/** A row, and what whoever asked says of it. */
export interface Asked<Ask> {
  readonly row: InteractionRow
  readonly ask: Ask | undefined
}

export interface Requests<Ask> {
  /** One that is listed as soon as it is started. */
  create(asked: Asked<Ask>, isUnattended: boolean): Request
  /** Tells a request that its end is committed. */
  ended(id: string, end: InteractionEnd): void
  get(id: string): Asked<Ask> | undefined
  all(): Iterable<Asked<Ask>>
}

interface Request {
  /** Its row is committed. */
  start(): void
  /** Resolves with how it ended; `abandoned` = `signal` aborts, and that cannot be recorded yet. */
  end(signal: AbortSignal): Promise<InteractionEnd | 'abandoned'>
}

const RECORDED = { answered: 'answer.recorded', expired: 'expiry.recorded', withdrawn: 'withdrawal.recorded' } as const

export function createRequests<Ask>(deps: {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly actors: ActorRegistry
  /** Commits the end of a request, and tells it by `ended`. */
  record(row: InteractionRow, end: 'expired' | 'withdrawn'): void
}): Requests<Ask> {
  const { effects, actors } = deps
  const clock = effects.clock

  const logic = laidOut(
    chartOf(interactionMachine).provide({
      actors: {
        recordExpiry: fromPromise(({ input, signal }) => record(input.id, 'expired', signal)),
        recordWithdrawal: fromPromise(({ input, signal }) => record(input.id, 'withdrawn', signal)),
      },
    }),
  )
  const make = (asked: Asked<Ask>, isUnattended: boolean) => {
    const { id, kind, sessionId } = asked.row
    return { ...asked, ref: createActor(logic, { id: `interaction:${id}`, input: { id, kind, sessionId, isUnattended }, clock }) }
  }
  const isLive = ({ ref }: ReturnType<typeof make>) => ref.getSnapshot().status === 'active'
  /** An actor that failed leaves its request here until its row ends. */
  const open = new Map<string, ReturnType<typeof make>>()

  async function record(id: string, end: 'expired' | 'withdrawn', signal: AbortSignal): Promise<void> {
    // The actor is at rest then, so that it has ended when the commit is heard (I1).
    await Promise.resolve()
    const request = open.get(id)
    if (signal.aborted || request === undefined) return
    try {
      deps.record(request.row, end)
    } catch (error) {
      effects.log.warn('the end of a request could not be recorded yet', { requestId: id, end, cause: String(error) })
      throw error
    }
  }

  return {
    create(asked, isUnattended) {
      const request = make(asked, isUnattended)
      const { ref } = request
      const { id } = asked.row
      return {
        start() {
          open.set(id, request)
          actors.add(ref, 'interaction')
          ref.subscribe({
            complete: () => open.delete(id),
            error: (error) => effects.log.error('the actor of a request failed', { requestId: id, cause: String(error) }),
          })
          ref.start()
        },
        async end(signal) {
          const leave = () => {
            if (isLive(request)) ref.send({ type: 'asker.left' })
          }
          signal.addEventListener('abort', leave, { once: true })
          if (signal.aborted) leave()
          try {
            const { value } = await waitFor(ref, (snapshot) => !snapshot.hasTag('awaited'))
            return typeof value === 'string' ? value : 'abandoned'
          } finally {
            signal.removeEventListener('abort', leave)
          }
        },
      }
    },
    ended(id, end) {
      const request = open.get(id)
      if (request === undefined) return
      if (isLive(request)) request.ref.send({ type: RECORDED[end] })
      else open.delete(id)
    },
    get: (id) => open.get(id),
    all: () => open.values(),
  }
}
