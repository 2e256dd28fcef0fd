/**
 * Committed events on their way to plugins (sessions-events §11.12; plugin-protocol §5.4).
 *
 * I1 Only durable events, after their commit, in the order of their numbers; while no published plugin subscribes an
 *    event costs one question.
 * I2 A plugin never runs inside a commit: events wait in a queue of at most `eventQueue`, and what does not fit is
 *    skipped and counted, because plugins are best effort and the server is not.
 * I3 Each event carries whose it is, its session and its workspace, so that nobody else's plugins see it.
 */
import { setImmediate } from 'node:timers'
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { Store } from '../../../store/store.js'
import type { Bus, BusRecord } from '../../events/bus.js'
import type { Effects } from '../../../ports/effects.js'
import type { WorkspacePlugins } from '../../../ports/view.js'

const { eventQueue } = LIMITS.plugins
/** Events handed on before other work gets its turn. */
const AT_ONCE = 32

export interface EventFeed {
  /** Events no plugin got because too many were waiting. */
  readonly skipped: number
  /** Resolves once what is committed by now was handed to the plugins: they hear of it before they are called. Undefined = it was. */
  caughtUp(): Promise<void> | undefined
  /** Ends the feed; what waits is dropped. */
  stop(): void
}

export function startEventFeed(deps: {
  readonly bus: Bus
  readonly store: Pick<Store, 'sessions'>
  readonly plugins: Pick<WorkspacePlugins, 'wantsEvents' | 'deliver'>
  readonly effects: Pick<Effects, 'log'>
}): EventFeed {
  const { bus, plugins, effects } = deps
  const directories = createDirectories(deps.store)
  const waiting: { readonly record: BusRecord; readonly directory: string | undefined }[] = []
  let skipped = 0
  let handed = 0

  const drain = (): void => {
    const batch = waiting.slice(0, AT_ONCE)
    for (const { record, directory } of batch) {
      const { id, type, sequence, data, sessionId } = record
      try {
        plugins.deliver({ id, type, sequence, properties: data }, { directory, sessionId })
      } catch (error) {
        effects.log.warn('an event could not be handed to plugins', { type, cause: String(error) })
      }
    }
    handed += waiting.splice(0, batch.length).length
    if (waiting.length > 0) setImmediate(drain)
  }

  const stop = bus.subscribe(
    (record) => {
      if (!record.durable) return
      if (!plugins.wantsEvents()) return directories.forget() // I1
      const directory = directories.of(record)
      if (waiting.length >= eventQueue) {
        if (skipped++ % eventQueue === 0) effects.log.warn('plugins do not keep up with events; some are skipped', { skipped })
        return // I2
      }
      waiting.push({ record, directory })
      if (waiting.length === 1) setImmediate(drain)
    },
    () => effects.log.error('plugins get no events any more', {}),
  )
  async function caughtUp(all: number): Promise<void> {
    while (handed < all && waiting.length > 0) await nextTurn()
  }

  return {
    get skipped() {
      return skipped
    },
    caughtUp: () => (waiting.length === 0 ? undefined : caughtUp(handed + waiting.length)),
    stop() {
      stop()
      waiting.length = 0
    },
  }
}

/** The workspace of each event: its own, its session's, or the one its data name. Bounded; what was forgotten is read again. */
function createDirectories(store: Pick<Store, 'sessions'>) {
  const known = createLru<string, string>(LIMITS.events.negativeFamilyCache)

  return {
    /** Events that are not seen may move sessions. */
    forget: () => known.clear(),
    of({ type, sessionId, directory, data }: BusRecord): string | undefined {
      if (directory !== undefined) return directory
      if (sessionId === undefined) return textAt(data, 'directory')
      const told = type.startsWith('session.') ? textAt(fieldOf(data, 'info'), 'directory') : undefined
      const found = told ?? known.get(sessionId) ?? store.sessions.get(sessionId)?.directory
      if (type === 'session.deleted') known.delete(sessionId)
      else if (found !== undefined) known.set(sessionId, found)
      return found
    },
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function textAt(value: unknown, key: string): string | undefined {
  const text = fieldOf(value, key)
  return typeof text === 'string' ? text : undefined
}
