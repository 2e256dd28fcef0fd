/**
 * The door of one generation: everybody who calls it passes here (plugin-protocol §3.6).
 *
 * I1 A closed door lets nobody in; those inside finish. I2 `closed` resolves when the last one has left.
 */
import { SvcError } from '../../../protocol/errors.js'

export interface Door {
  readonly open: boolean
  /** How many are inside. */
  readonly holders: number
  /** Runs work inside; throws `plugin.generation_closed` once the door is closed. */
  use<T>(work: () => Promise<T>): Promise<T>
  /** Lets nobody in any more; resolves when nobody is inside. */
  close(): Promise<void>
}

export function createDoor(pluginId: string): Door {
  let open = true
  let holders = 0
  let empty: (() => void) | undefined
  const left = new Promise<void>((resolve) => (empty = resolve))

  function leave(): void {
    holders--
    if (!open && holders === 0) empty?.()
  }

  return {
    get open() {
      return open
    },
    get holders() {
      return holders
    },
    async use(work) {
      if (!open) throw new SvcError('plugin.generation_closed', `The plugin ${pluginId} was replaced or switched off.`, { pluginId })
      holders++
      try {
        return await work()
      } finally {
        leave()
      }
    },
    close() {
      open = false
      if (holders === 0) empty?.()
      return left
    },
  }
}
