import type { NativeHost } from '../../../actors/plugin/native/native.js'

/** How long reading may keep the event loop, ms. */
const SLICE = 10

/** Answers the function to wait for after each part: it lets others have their turn when a slice of time is used up. */
export function createSlices(clock: Pick<NativeHost['effects']['clock'], 'monotonic'>): () => Promise<void> | undefined {
  let began = clock.monotonic()
  return () => {
    if (clock.monotonic() - began < SLICE) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        began = clock.monotonic()
        resolve()
      })
    })
  }
}
