/** Waiting for a slow reader. */
import type { Writable } from 'node:stream'

/** Resolves once the answer, or its socket, may be written to again, or is closed. */
export function untilWritable(raw: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed || !raw.writableNeedDrain) {
      resolve()
      return
    }
    const settle = () => {
      raw.off('drain', settle)
      raw.off('close', settle)
      resolve()
    }
    raw.on('drain', settle)
    raw.on('close', settle)
  })
}
