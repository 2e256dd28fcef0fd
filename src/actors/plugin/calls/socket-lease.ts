import type { Stamp } from '../../../ports/view.js'

/**
 * What `open` answers, with a socket that keeps its generation from being retired, as far as retirement waits, until
 * `left` is called; `hold` is to make the socket call it when it is closed.
 */
export function underLease<T>(stamp: Stamp, open: () => Promise<T>, hold: (opened: T, left: () => void) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const held = stamp.use(async () => {
      const opened = await open()
      await new Promise<void>((left) => resolve(hold(opened, left)))
    })
    held.catch(reject)
  })
}
