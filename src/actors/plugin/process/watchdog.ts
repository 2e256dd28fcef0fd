/**
 * Watches a plugin process from outside (`ProcessWatch`): what does not answer, or grows too large, is killed.
 *
 * I1 The call budget counts from the last reply, or from the first call that waits for one: a plugin that works off a queue makes progress.
 * I2 Memory is looked at every `POLL` ms, and only while the plugin loads or a call waits.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { watchSilence } from '../../../kernel/silence.js'
import type { Clock } from '../../../ports/effects.js'
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
  let phase: 'starting' | 'loading' | 'serving' | 'over' = 'starting'
  const load = createAlarm(clock, () => broken(`The plugin did not load within ${loadBudget} ms.`))
  const calls = watchSilence(clock, (ms) => broken(`The plugin did not answer within ${ms} ms.`))
  const measuring = createAlarm(clock, measure)

  function stop(): void {
    phase = 'over'
    load.end()
    calls.stop()
    measuring.end()
  }
  function broken(reason: string): void {
    stop()
    onBroken(reason)
  }
  function measure(): void {
    if (processBytes === undefined || (phase === 'serving' && waiting.size === 0)) return
    const bytes = residentBytes() ?? 0
    if (bytes > processBytes)
      return broken(`The plugin process uses ${Math.ceil(bytes / MiB)} MiB of memory; it may use ${Math.floor(processBytes / MiB)} MiB.`)
    measuring.set(POLL)
  }
  function beginMeasuring(): void {
    if (processBytes !== undefined && !measuring.isSet) measuring.set(POLL)
  }

  return {
    started() {
      if (phase !== 'starting') return
      phase = 'loading'
      beginMeasuring()
      if (loadBudget !== undefined) load.set(loadBudget)
    },
    loaded() {
      if (phase === 'over') return
      phase = 'serving'
      load.clear()
    },
    sent(id) {
      if (phase !== 'serving') return
      if (callBudget !== undefined && waiting.size === 0) calls.expect(callBudget)
      waiting.add(id)
      beginMeasuring()
    },
    replied(id) {
      if (!waiting.delete(id) || callBudget === undefined || phase === 'over') return
      if (waiting.size === 0) calls.stop()
      else calls.expect(callBudget)
    },
    stop,
  }
}
