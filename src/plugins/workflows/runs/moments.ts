/** Waiting for moments of the wall clock, however many: one timer for all (see the agenda). */
import type { Effects } from '../../../ports/effects.js'
import { createAgenda } from './agenda.js'

export interface Moments {
  /** Resolves once the moment has come, and never when `signal` aborts before; a key has one moment. */
  until(key: string, at: number, signal: AbortSignal): Promise<void>
  stop(): void
}

export function createMoments(effects: Pick<Effects, 'clock'>): Moments {
  const waiting = new Map<string, () => void>()
  const agenda = createAgenda(effects, (key) => {
    const come = waiting.get(key)
    waiting.delete(key)
    come?.()
  })
  return {
    until: (key, at, signal) =>
      new Promise((resolve) => {
        waiting.set(key, resolve)
        agenda.put(key, at)
        signal.addEventListener('abort', () => {
          if (waiting.get(key) !== resolve) return
          waiting.delete(key)
          agenda.remove(key)
        })
      }),
    stop: () => agenda.stop(),
  }
}
