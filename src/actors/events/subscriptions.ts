/**
 * The subscriptions under way: an actor for each reader (sessions-events §11.4–11.8).
 *
 * I1 Frames go from the bus to the sink of a reader; its actor hears only of changes of its state.
 * I2 A sink is ended once, unless its reader has left by itself.
 */
import { laidOut } from '../../kernel/machine/laid-out.js'
import { chartOf } from '../../kernel/machine/chart.js'
import { nextTurn } from '../../kernel/pause.js'
import { type AnyEventObject, createActor, fromCallback } from 'xstate'
import { subscriptionMachine } from '../../machines/events/subscription.machine.js'
import type { Effects } from '../../ports/effects.js'
import type { EventSubscription, FrameSink } from '../../ports/facades.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import { supervise } from '../../kernel/supervise.js'

export interface Subscriptions {
  /** Throws what went wrong when nothing can be delivered from the first moment on. */
  open(subscriber: Subscriber): EventSubscription
}

/** Somebody to be served, and how. */
interface Subscriber {
  readonly sink: FrameSink
  /** The log it is sent first. */
  readonly log?: Log | undefined
  /** Sends what a newcomer is told, and what happens from then on; answers the function that ends it. */
  deliver(reports: DeliveryReports): () => void
}

interface Log {
  readonly after: number
  /** Sends a page; answers the cursor behind it, or that this was the last, or that what follows is no longer kept. */
  page(after: number): number | 'read' | 'pruned'
}

export interface DeliveryReports {
  /** The reader takes too little. */
  lagged(): void
  /** Nothing more can be sent. */
  failed(): void
}

interface Served extends Subscriber {
  /** What was thrown when delivery was to begin. */
  fault?: { readonly error: unknown }
}

export function createSubscriptions({
  effects,
  actors,
}: {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly actors: ActorRegistry
}): Subscriptions {
  const served = new Map<string, Served>()
  let opened = 0

  function servedBy(id: string): Served {
    const subscriber = served.get(id)
    if (subscriber === undefined) throw new Error(`"${id}" is not open`)
    return subscriber
  }

  const logic = laidOut(
    chartOf(subscriptionMachine).provide({
      actors: {
        replay: fromCallback<AnyEventObject, { id: string }>(({ input: { id }, sendBack }) => {
          const left = new AbortController()
          replay(servedBy(id), left.signal, sendBack).catch((error: unknown) => {
            effects.log.warn('the log could not be sent to a subscriber', { subscription: id, cause: String(error) })
            sendBack({ type: 'delivery.failed' })
          })
          return () => left.abort()
        }),
        deliver: fromCallback<AnyEventObject, { id: string }>(({ input: { id }, sendBack }) => {
          const subscriber = servedBy(id)
          try {
            return subscriber.deliver({
              lagged: () => sendBack({ type: 'reader.lagged' }),
              failed: () => sendBack({ type: 'delivery.failed' }),
            })
          } catch (error) {
            subscriber.fault = { error }
            throw error
          }
        }),
      },
    }),
  )

  const subscriptions = supervise<typeof subscriptionMachine>({
    effects,
    kind: 'subscription',
    actors,
    onEnded(id, ref) {
      const subscriber = servedBy(id)
      served.delete(id)
      if (ref.getSnapshot().output?.end !== 'left') subscriber.sink.end()
    },
  })

  return {
    open({ sink, log, deliver }) {
      const id = `subscription:${++opened}`
      const subscriber: Served = { sink, log, deliver }
      served.set(id, subscriber)
      subscriptions.start(id, (options) => createActor(logic, { id, input: { id, after: log?.after }, ...options }))
      if (subscriber.fault !== undefined) throw subscriber.fault.error
      return {
        close(how = 'left') {
          subscriptions.send(id, { type: how === 'left' ? 'reader.left' : 'reader.lagged' })
        },
      }
    },
  }
}

/** Tells of the end of the log in the tick of its last page. */
async function replay({ sink, log }: Subscriber, left: AbortSignal, report: (event: AnyEventObject) => void): Promise<void> {
  let cursor = log?.after ?? 0
  while (log !== undefined && !left.aborted) {
    const next = log.page(cursor)
    if (typeof next === 'string') return report({ type: `log.${next}` })
    cursor = next
    await sink.drained()
    await nextTurn() // also where nothing of a page was for this reader
  }
}
