/**
 * One ordered fan-out (sessions-events §11.3).
 *
 * I1 Records are delivered in sequence order, in the tick they are published, to every subscriber.
 * I2 Delivery only enqueues: a subscriber's sink is never waited for, and its throw ends that subscriber alone,
 *    which is told so.
 */

export interface BusRecord {
  readonly id: string
  readonly sequence: number
  readonly type: string
  /** The session the event belongs to; undefined = none. */
  readonly sessionId: string | undefined
  /** The workspace an event of a plugin belongs to; undefined = told by its session or data. */
  readonly directory: string | undefined
  /** The envelope as one line of JSON, as it is stored. */
  readonly json: string
  readonly durable: boolean
  /** The data as an object, for subscribers inside the process. */
  readonly data: unknown
  /** The whole SSE record, encoded once for all subscribers. */
  frame(): Uint8Array
}

type Deliver = (record: BusRecord, isWhole: boolean) => void

export interface Bus {
  /** `isWhole`: it is the last of what was committed together, and somebody waits for that. */
  publish(record: BusRecord, isWhole?: boolean): void
  /**
   * Answers the function that ends the subscription; `onFault` runs when a throw of `deliver` has ended it. `count`: of how many it is; absent =
   * of one.
   */
  subscribe(deliver: Deliver, onFault: () => void, count?: () => number): () => void
  /** Tells of a throw that has ended one of many. */
  report(error: unknown): void
  readonly subscribers: number
}

export function createBus(report: (error: unknown) => void): Bus {
  const subscribers = new Map<Deliver, { readonly onFault: () => void; readonly count: () => number }>()
  return {
    report,
    publish(record, isWhole = false) {
      for (const [deliver, { onFault }] of subscribers) {
        try {
          deliver(record, isWhole)
        } catch (error) {
          subscribers.delete(deliver)
          report(error)
          onFault()
        }
      }
    },
    subscribe(deliver, onFault, count = one) {
      subscribers.set(deliver, { onFault, count })
      return () => {
        subscribers.delete(deliver)
      }
    },
    get subscribers() {
      return [...subscribers.values()].reduce((sum, { count }) => sum + count(), 0)
    },
  }
}

const one = () => 1

/** SSE framing (choice 2): `id`, `event`, `data`; a baseline record carries no `id` line. */
export function sseFrame(type: string, json: string, sequence?: number): string {
  return sequence === undefined ? `event: ${type}\ndata: ${json}\n\n` : `id: ${sequence}\nevent: ${type}\ndata: ${json}\n\n`
}

/** Small ones share their memory: a piece of its own for each would cost more than what stands in it. */
export function encodeFrame(text: string): Uint8Array {
  return Buffer.from(text)
}
