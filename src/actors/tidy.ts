/** Gives memory back after a time of work: once, when no run has been under way for a while. */
import type { Bus } from './bus.js'
import type { Effects } from './effects.js'

const QUIET = 3000
/** Pages that one collection empties go back to the system with the next. */
const AGAIN = 1000

/** Answers the function that ends it. */
export function tidyWhenQuiet(deps: { bus: Bus; effects: Pick<Effects, 'clock' | 'memory'>; isBusy(): boolean }): () => void {
  const { clock, memory } = deps.effects
  let timer: unknown
  const wait = () => {
    timer = clock.setTimeout(() => {
      timer = undefined
      if (deps.isBusy()) return wait()
      memory.collect()
      timer = clock.setTimeout(() => {
        timer = undefined
        if (!deps.isBusy()) memory.collect()
      }, AGAIN)
    }, QUIET)
  }
  const leave = deps.bus.subscribe(
    (record) => {
      if (record.type !== 'session.status') return
      memory.bound()
      if (timer === undefined) wait()
    },
    () => undefined,
  )
  return () => {
    leave()
    if (timer !== undefined) clock.clearTimeout(timer)
  }
}
