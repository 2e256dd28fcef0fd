/** Event streams and execution activity (http-contract §5.4; sessions-events §11). */
import type { Runtime } from '../../ports/facades.js'
import { eventRoutes as contracts } from '../../protocol/event/event.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Binder } from '../bind.js'

export function eventRoutes(bind: Binder, { events }: Runtime): void {
  bind.events(contracts.subscribe, ({ caller, query, headers }, sink) =>
    events.subscribe(
      caller,
      {
        after: query.since ?? cursorOf(headers['last-event-id']),
        tail: query.tail ?? false,
        limit: query.limit ?? LIMITS.events.replayPageDefault,
        sessionId: query.sessionId,
      },
      sink,
    ),
  )
  bind.events(contracts.catalog, ({ caller, directory }, sink) => events.subscribeCatalog(caller, directory, sink))
  bind.json(contracts.activity, ({ caller }) => events.activity(caller))
  bind.events(contracts.activityEvents, ({ caller }, sink) => events.subscribeActivity(caller, sink))
}

/** A cursor that browsers send by themselves: what cannot be read counts as absent (sessions-events §11.4). */
function cursorOf(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || !/^\d{1,16}$/.test(lastEventId)) return undefined
  const cursor = Number(lastEventId)
  return Number.isSafeInteger(cursor) ? cursor : undefined
}
