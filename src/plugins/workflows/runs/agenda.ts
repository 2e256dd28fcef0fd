/**
 * What is due when, by the wall clock: one timer for everything that waits (threat-model §6.3.3).
 *
 * I1 The timer is never longer than `tick`, and what is due is asked of the wall clock when it fires: a clock that was set,
 *    or a machine that was asleep, delays nothing by more than that.
 * I2 A key has one moment, the last it was given.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'

export interface Agenda {
  /** `at` in Unix ms; replaces what the key had. */
  put(key: string, at: number): void
  remove(key: string): void
  has(key: string): boolean
  readonly size: number
  stop(): void
  readonly isOver: boolean
}

interface Entry {
  readonly key: string
  readonly at: number
}

/** `onDue` is called with a key once its moment has come, and must not throw. */
export function createAgenda({ clock }: Pick<Effects, 'clock'>, onDue: (key: string) => void): Agenda {
  const moments = new Map<string, number>()
  /** A heap by `at`; entries that are not the moment of their key any more are passed over. */
  let heap: Entry[] = []
  const alarm = createAlarm(clock, fire)
  let timerAt = Number.POSITIVE_INFINITY

  function arm(): void {
    const first = heap[0]
    clock.expects?.(moments, first?.at)
    if (alarm.isOver || first === undefined || first.at >= timerAt) return
    const now = clock.now()
    const wait = Math.max(0, Math.min(first.at - now, LIMITS.workflows.tick)) // I1
    timerAt = now + wait
    alarm.set(wait)
  }

  function fire(): void {
    timerAt = Number.POSITIVE_INFINITY
    const now = clock.now()
    const due: string[] = []
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      takeFirst()
      if (moments.get(first.key) !== first.at) continue // I2
      moments.delete(first.key)
      due.push(first.key)
    }
    arm()
    for (const key of due) onDue(key)
  }

  function takeFirst(): void {
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const right = left + 1
      const child = isBefore(heap[right], heap[left]) ? right : left
      const below = heap[child]
      if (below === undefined || last.at <= below.at) break
      heap[at] = below
      at = child
    }
    heap[at] = last
  }

  function add(entry: Entry): void {
    let at = heap.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (above === undefined || above.at <= entry.at) break
      heap[at] = above
      at = parent
    }
    heap[at] = entry
  }

  /** Moments that were replaced do not pile up. */
  function tidy(): void {
    if (heap.length <= 2 * moments.size + 64) return
    const left = [...moments].map(([key, at]) => ({ key, at }))
    heap = left.toSorted((a, b) => a.at - b.at) // sorted is a heap
  }

  return {
    put(key, at) {
      if (alarm.isOver || moments.get(key) === at) return
      moments.set(key, at)
      add({ key, at })
      tidy()
      arm()
    },
    remove(key) {
      moments.delete(key)
    },
    has: (key) => moments.has(key),
    get size() {
      return moments.size
    },
    stop() {
      clock.expects?.(moments, undefined)
      alarm.end()
    },
    get isOver() {
      return alarm.isOver
    },
  }
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  return a !== undefined && b !== undefined && a.at < b.at
}
