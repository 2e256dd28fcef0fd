/** Periodic work that keeps a long-lived service small: retention of the logs, checkpoints, expired files. */
import { createAlarm } from '../../kernel/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'

const INTERVAL = 60_000
const SWEEP_EVERY = 60
const BATCH = 5000
const PAUSE = 20

export interface Maintenance {
  stop(): void
}

/** Prunes in bounded batches, so that no step stalls the loop; `sweep` removes expired files. */
export function startMaintenance(deps: {
  store: Pick<Store, 'prune' | 'checkpoint'>
  effects: Pick<Effects, 'clock' | 'log'>
  sweep(): Promise<void>
}): Maintenance {
  const { store, effects } = deps
  let rounds = 0
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
    const { retainedAge, retainedRows, retainedBytes } = LIMITS.events
    const before = effects.clock.now() - retainedAge
    const more = store.prune({ before, maxRows: retainedRows, maxBytes: retainedBytes, batch: BATCH, auditRows: LIMITS.audit.retainedRows })
    if (more) later(prune, PAUSE)
    else later(round, INTERVAL)
  }

  function round(): void {
    if (rounds++ % SWEEP_EVERY === 0) deps.sweep().catch((error: unknown) => effects.log.warn('sweeping failed', { cause: String(error) }))
    store.checkpoint()
    prune()
  }

  later(round, INTERVAL)
  return {
    stop: alarm.end,
  }
}
