/**
 * Watches a plugin process from outside (`ProcessWatch`): what does not answer, or grows too large, is killed.
 *
 * I1 The call budget counts from the last reply, or from the first call that waits for one: a plugin that works off a queue makes progress.
 * I2 Memory is looked at every `POLL` ms, and only while the plugin loads or a call waits.
 */
import type { Clock } from '../../effects.js'
import type { ProcessWatch } from './process-spec.js'

const POLL = 250
const MiB = 1024 * 1024

export interface Watchdog {
  /** The first byte of its output has come. */
  started(): void
  /** It has answered `initialize`. */
  loaded(): void
  sent(id: number): void
  replied(id: number): void
  stop(): void
}

export interface WatchdogOptions {
  readonly clock: Clock
  readonly watch: ProcessWatch
  residentBytes(): number | undefined
  /** Called at most once, with a sentence. */
  onBroken(reason: string): void
}

export function createWatchdog({ clock, watch, residentBytes, onBroken }: WatchdogOptions): Watchdog {
  const { loadBudget, callBudget, processBytes } = watch
  const waiting = new Set<number>()
  let since = 0
  let phase: 'starting' | 'loading' | 'serving' | 'over' = 'starting'
  let loadTimer: unknown
  let callTimer: unknown
  let pollTimer: unknown

  const stop = (): void => {
    phase = 'over'
    for (const timer of [loadTimer, callTimer, pollTimer]) if (timer !== undefined) clock.clearTimeout(timer)
  }
  const broken = (reason: string): void => {
    if (phase === 'over') return
    stop()
    onBroken(reason)
  }
  const checkCalls = (): void => {
    callTimer = undefined
    if (callBudget === undefined || waiting.size === 0) return
    const left = since + callBudget - clock.monotonic()
    if (left <= 0) return broken(`The plugin did not answer within ${callBudget} ms.`)
    callTimer = clock.setTimeout(checkCalls, left)
  }
  const poll = (): void => {
    pollTimer = undefined
    if (processBytes === undefined || phase === 'over' || (phase === 'serving' && waiting.size === 0)) return
    const bytes = residentBytes() ?? 0
    if (bytes > processBytes)
      return broken(`The plugin process uses ${Math.ceil(bytes / MiB)} MiB of memory; it may use ${Math.floor(processBytes / MiB)} MiB.`)
    pollTimer = clock.setTimeout(poll, POLL)
  }
  const schedulePoll = (): void => {
    if (processBytes !== undefined && pollTimer === undefined) pollTimer = clock.setTimeout(poll, POLL)
  }

  return {
    started() {
      if (phase !== 'starting') return
      phase = 'loading'
      schedulePoll()
      if (loadBudget !== undefined)
        loadTimer = clock.setTimeout(() => broken(`The plugin did not load within ${loadBudget} ms.`), loadBudget)
    },
    loaded() {
      if (phase === 'over') return
      phase = 'serving'
      if (loadTimer !== undefined) clock.clearTimeout(loadTimer)
      loadTimer = undefined
    },
    sent(id) {
      if (phase !== 'serving') return
      if (waiting.size === 0) since = clock.monotonic()
      waiting.add(id)
      if (callTimer === undefined) checkCalls()
      schedulePoll()
    },
    replied(id) {
      if (waiting.delete(id)) since = clock.monotonic()
    },
    stop,
  }
}
