/** Waits that end: for work, for a while, and a signal for those who are waited for. */
import { createAlarm, type Timers } from './alarm.js'

/** Resolves when the work settles, `ms` later at the latest; rejects when it does. The work goes on. */
export async function waitAtMost(clock: Timers, work: Promise<unknown>, ms: number): Promise<void> {
  let end = (): void => undefined
  const late = new Promise<void>((resolve) => {
    end = resolve
  })
  const alarm = createAlarm(clock, end)
  alarm.set(ms)
  try {
    await Promise.race([work, late])
  } finally {
    alarm.end()
  }
}

/** What the work comes to, or a rejection with `reason` when it takes longer. The work goes on. */
export function withinTime<T>(clock: Timers, work: Promise<T>, ms: number, reason: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const alarm = createAlarm(clock, () => reject(new Error(reason)))
    alarm.set(ms)
    work.finally(() => alarm.end()).then(resolve, reject)
  })
}

export interface TimeLimit {
  /** Aborts with an error once the time is over. */
  readonly signal: AbortSignal
  /** The work is done: the signal stays as it is. */
  clear(): void
}

export function timeLimit(clock: Timers, ms: number, reason: string | Error): TimeLimit {
  const late = new AbortController()
  const alarm = createAlarm(clock, () => late.abort(typeof reason === 'string' ? new Error(reason) : reason))
  alarm.set(ms)
  return { signal: late.signal, clear: () => alarm.end() }
}

/** Resolves after a while, at once when `signal` aborts. */
export function sleep(clock: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      alarm.end()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const alarm = createAlarm(clock, end)
    if (signal?.aborted === true) return end()
    signal?.addEventListener('abort', end, { once: true })
    alarm.set(ms)
  })
}
