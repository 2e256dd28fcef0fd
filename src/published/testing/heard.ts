/** Everything a runtime publishes, as somebody hears it who listens from the start. */
import type { EventSubscription, FrameSink, Runtime } from '../../ports/facades.js'
import { TRUSTED_CALLER } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'

const decoder = new TextDecoder()

export interface SeenEvent {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly timestamp: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: Readonly<Record<string, any>>
}

export interface Heard {
  readonly events: readonly SeenEvent[]
  /** Closed, nobody listens any more. */
  readonly subscription: EventSubscription
  /** Calls `listener` with every event from now on; answers the function that ends it. */
  listen(listener: (event: SeenEvent) => void): () => void
}

export function hear(runtime: Runtime): Heard {
  const events: SeenEvent[] = []
  const listeners = new Set<(event: SeenEvent) => void>()
  const see = (event: SeenEvent) => {
    events.push(event)
    for (const listener of listeners) listener(event)
  }
  const query = { after: undefined, tail: true, limit: 1000, sessionId: undefined }
  return {
    events,
    subscription: runtime.events.subscribe(TRUSTED_CALLER, query, sinkOf(see)),
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export interface Written {
  readonly event: SeenEvent
  /** A reader may go on behind it. */
  readonly hasCursor: boolean
}

/** What a frame says. `parsed`: of the data of an event, which many frames may have. */
export function writtenIn(frame: Uint8Array, parsed = (json: string) => JSON.parse(json) as SeenEvent): readonly Written[] {
  return decoder
    .decode(frame)
    .split('\n\n')
    .flatMap((record) => {
      const lines = record.split('\n')
      const data = lines.find((line) => line.startsWith('data: '))
      if (data === undefined) return []
      return [{ event: parsed(data.slice(6)), hasCursor: lines.some((line) => line.startsWith('id: ')) }]
    })
}

/** A sink that reads its own frames back. */
export function sinkOf(
  see: (event: SeenEvent, hasCursor: boolean) => void,
  read: (frame: Uint8Array) => readonly Written[] = (frame) => writtenIn(frame),
): FrameSink {
  return {
    write(frame) {
      for (const { event, hasCursor } of read(frame)) see(event, hasCursor)
    },
    room: () => LIMITS.events.replayPageBytes,
    pending: () => 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
  }
}
