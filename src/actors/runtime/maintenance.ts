/** Periodic work that keeps a long-lived service small: retention of the logs, checkpoints, expired files. */
import { createAlarm } from '../../kernel/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'
import { type StorageBounds, USUAL_BOUNDS } from '../artifact/storage-bounds.js'

const INTERVAL = 60_000
const SWEEP_EVERY = 60
const BATCH = 5000
const PAUSE = 20
/** ms by which the clock of the wall may differ from what has passed between two rounds, sleep included, and how long nothing goes by its age after it did. */
const JUMP = 3_600_000
const DOUBT = 86_400_000

export interface Maintenance {
  stop(): void
}

/** Prunes in bounded batches, so that no step stalls the loop; `sweep` removes expired files. */
export function startMaintenance(deps: {
  store: Pick<Store, 'prune' | 'checkpoint'> & { readonly search: Pick<Store['search'], 'keep'> }
  effects: Pick<Effects, 'clock' | 'log'>
  sweep(): Promise<void>
  /** How much may be kept, looked up anew. */
  bounds(): Promise<Pick<StorageBounds, 'events' | 'search'>>
}): Maintenance {
  const { store, effects } = deps
  let { events } = USUAL_BOUNDS
  let rounds = 0
  let seen = look()
  let trustedFrom = seen.elapsed
  let next: () => void = round
  const alarm = createAlarm(effects.clock, () => {
    try {
      next()
    } catch (error) {
      effects.log.warn('maintenance failed', { cause: String(error) })
      later(round, INTERVAL)
    }
  })

  function later(run: () => void, ms: number): void {
    next = run
    alarm.set(ms)
  }

  function prune(): void {
    const before = isTrusted() ? effects.clock.now() - events.age : 0
    const maxRows = LIMITS.events.retainedRows
    const more = store.prune({ before, maxRows, maxBytes: events.bytes, batch: BATCH, auditRows: LIMITS.audit.retainedRows })
    if (more) later(prune, PAUSE)
    else later(round, INTERVAL)
  }

  /** A clock that was set wrong makes everything old at once: what would go by its age waits until that has been noticed. */
  function isTrusted(): boolean {
    return seen.elapsed >= trustedFrom
  }

  function look(): { readonly wall: number; readonly elapsed: number } {
    return { wall: effects.clock.now(), elapsed: effects.clock.elapsed() }
  }

  function compareClocks(): void {
    const now = look()
    const jump = now.wall - seen.wall - (now.elapsed - seen.elapsed)
    seen = now
    if (Math.abs(jump) < JUMP) return
    trustedFrom = now.elapsed + DOUBT
    effects.log.warn('the clock was set: nothing is removed because of its age for a day', { by: jump })
  }

  function round(): void {
    compareClocks()
    const isSweeping = rounds++ % SWEEP_EVERY === 0
    deps
      .bounds()
      .then(async (bounds) => {
        events = bounds.events
        const { age, bytes } = bounds.search
        store.search.keep({ bytes, since: isTrusted() ? effects.clock.now() - age : 0 })
        if (isSweeping && isTrusted()) await deps.sweep()
      })
      .catch((error: unknown) => effects.log.warn('sweeping failed', { cause: String(error) }))
    store.checkpoint()
    prune()
  }

  later(round, INTERVAL)
  return {
    stop: () => alarm.end(),
  }
}
