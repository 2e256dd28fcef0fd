/** What happens is told: the journal and whoever hears of it. */
import { createActorDirectory } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import { createBus } from '../events/bus.js'
import { createEventStream } from '../events/events.js'
import { createFamilies } from '../events/families.js'
import { createJournal } from '../events/journal.js'
import { createLive } from '../events/live.js'
import { createSubscriptions } from '../events/subscriptions.js'
import { createExecutions } from '../session/state/executions.js'
import { createOutstanding } from '../session/state/outstanding.js'
import { settleFamily } from '../session/state/settle-family.js'
import { createStatuses } from '../session/state/statuses.js'
import { createOwners } from '../tenancy/owners.js'

export type EventParts = ReturnType<typeof wireEvents>

export function wireEvents(effects: Effects, store: Store) {
  const actors = createActorDirectory({ now: () => effects.clock.now(), crashes: LIMITS.inspector.crashes })
  const bus = createBus((error) => effects.log.error('an event subscriber failed', { cause: String(error) }))
  const journal = createJournal({ store, bus, effects })
  const families = createFamilies(store)
  const live = createLive()
  const owners = createOwners(store)
  const statuses = createStatuses()
  const outstanding = createOutstanding(effects.ids.next('job'))
  const executions = createExecutions({ store, effects, families, statuses, outstanding, head: journal.head })
  outstanding.onEnded((sessionId) => settleFamily({ journal, executions, families, effects }, sessionId))
  const subscriptions = createSubscriptions({ effects, actors })
  const stream = createEventStream({ store, bus, journal, families, owners, live, statuses, executions, subscriptions })
  return { actors, bus, journal, families, live, owners, statuses, outstanding, executions, subscriptions, stream }
}
