/**
 * One change at a time per file (sessions-events §10.1).
 *
 * I1 Holders of one key follow each other in the order they asked; different keys do not wait for each other.
 * I2 At most `WAITING` calls wait for one key; one more is refused.
 */
import { createLanes } from '../../../kernel/lane.js'
import { ToolError } from '../../../ports/plugin.js'

const WAITING = 64

export interface Locks {
  /** Runs `work` while holding `key`; rejects with the signal's reason when aborted before it starts. */
  hold<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Keys held or waited for. */
  readonly size: number
}

export function createLocks(): Locks {
  const full = (key: string) => new ToolError(`More than ${WAITING} changes of ${key} are waiting. Try again later.`)
  const lanes = createLanes<string>({ most: WAITING + 1, full })
  return {
    hold: (key, signal, work) => lanes.run(key, work, signal),
    get size() {
      return lanes.size
    },
  }
}
