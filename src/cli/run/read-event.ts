/** Event envelopes as they come in: known types typed, everything else left out. */
import { Event, type EventOf, type EventType } from '../../protocol/event/event.js'

/** Any event of the union, discriminated by `type`. */
export type KnownEvent = { [T in EventType]: EventOf<T> }[EventType]

/** The event in a JSON text; undefined for types this version does not know (service.md, Versioning 3). */
export function readEvent(text: string): KnownEvent | undefined {
  const result = Event.safeParse(JSON.parse(text))
  return result.success ? (result.data as unknown as KnownEvent) : undefined
}
