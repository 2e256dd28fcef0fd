/**
 * Events plugins publish, as durable events of the one log (plugin-protocol §2.5; sessions-events §11).
 *
 * I1 A plugin speaks of the sessions of its own workspace alone, and a session plugin of its session.
 * I2 What it publishes is bounded in size and in number, because every event is stored and sent to everybody.
 */
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { createLru } from '../../../../kernel/lru.js'
import type { Store } from '../../../../store/store.js'
import type { Effects } from '../../../../ports/effects.js'
import type { Journal } from '../../../events/journal.js'
import { wellFormedValue } from '../../../../protocol/text/well-formed.js'
import type { InstancePlace } from '../../generation/instance.js'
import { createRate, type Rate } from '../../../../kernel/rate.js'

const PAYLOAD_BYTES = LIMITS.events.recordBytes / 4
const { publishedPerSecond } = LIMITS.plugins
/** Plugins whose rate is known at the same time. */
const REMEMBERED = 4096

/** `type` is `plugin.<namespace>.<name>`, checked against what the plugin declared. */
export type PublishEvent = (pluginId: string, type: string, properties: unknown, place: InstancePlace) => void

/**
 * Throws `request.unprocessable` for payloads over 256 KiB, `request.forbidden` for sessions that are not the plugin's,
 * and `quota.exceeded` for more than `publishedPerSecond` events, those that are refused among them.
 */
export function createEventCommit(deps: {
  readonly journal: Pick<Journal, 'commit'>
  readonly store: Pick<Store, 'sessions'>
  readonly effects: Pick<Effects, 'clock'>
}): PublishEvent {
  const rates = createLru<string, Rate>(REMEMBERED)
  return (pluginId, type, properties, place) => {
    // Before anything is looked at: what is refused costs as little as can be.
    const rate = rates.get(pluginId) ?? createRate(deps.effects.clock)
    rates.set(pluginId, rate)
    if (rate.count() > publishedPerSecond)
      throw new SvcError('quota.exceeded', `A plugin may publish ${publishedPerSecond} events per second.`, { pluginId })
    const data = wellFormedValue(properties ?? null)
    const bytes = Buffer.byteLength(JSON.stringify(data))
    if (bytes > PAYLOAD_BYTES)
      throw new SvcError('request.unprocessable', `The payload of an event may have ${PAYLOAD_BYTES} bytes; this one has ${bytes}.`)
    const sessionId = sessionFor(deps.store, data, place)
    deps.journal.commit('process', (tx) => tx.emitOpen({ type, source: pluginId, data, sessionId, directory: place.workspace }))
  }
}

/** I1. The session an event is about: the one its payload names, else that of a session plugin. */
function sessionFor(store: Pick<Store, 'sessions'>, data: unknown, place: InstancePlace): string | undefined {
  const own = place.scope === 'session' ? place.scopeId : undefined
  const named = textAt(data, 'sessionID') ?? textAt(data, 'sessionId')
  if (named === undefined) return own
  const session = store.sessions.get(named)
  const isForeign = place.workspace !== undefined && session?.directory !== place.workspace
  if (session === undefined || isForeign || (own !== undefined && own !== named))
    throw new SvcError('request.forbidden', `The event names the session "${named}", which is not one of the plugin's workspace.`, {
      sessionId: named,
    })
  return named
}

function textAt(value: unknown, key: string): string | undefined {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof text === 'string' ? text : undefined
}
