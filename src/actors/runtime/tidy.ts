/** Gives memory back after the start and after a time of work: once, when no run has been under way for a while. */
import { createAlarm } from '../../kernel/alarm.js'
import type { Bus } from '../events/bus.js'
import type { Effects } from '../../ports/effects.js'

const QUIET = 3000
/** The engine gives the room for young objects back only to a collection in quiet times, so the first is followed by another. */
const ROUNDS = 2

/** Answers the function that ends it. */
export function tidyWhenQuiet(deps: { bus: Bus; effects: Pick<Effects, 'clock' | 'memory'>; isBusy(): boolean }): () => void {
  const { clock, memory } = deps.effects
  let rounds = 0
  /** When the status of a session changed last. */
  let worked = Number.NEGATIVE_INFINITY
  const quiet = createAlarm(clock, () => {
    if (deps.isBusy()) return // the end of what is under way is told
    const left = worked + QUIET - clock.monotonic()
    if (left > 0) return quiet.set(left)
    memory.collect()
    if (rounds > 1) wait(rounds - 1)
  })
  const wait = (left: number) => {
    rounds = left
    quiet.set(QUIET)
  }
  wait(ROUNDS)
  const leave = deps.bus.subscribe(
    (record) => {
      if (record.type === 'session.status') {
        memory.bound()
        worked = clock.monotonic()
      } else if (record.type !== 'session.deleted') return
      if (!quiet.isSet) wait(ROUNDS)
    },
    () => undefined,
  )
  return () => {
    leave()
    quiet.end()
  }
}
