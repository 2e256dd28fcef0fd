/** A database whose disk is full or broken for a while: what is written is done, and its commit fails. What waits in it counts as more than it is. */
import { SvcError } from '../../src/protocol/errors.js'
import type { DiskFault } from '../../src/simulation/disk.js'
import type { Store } from '../../src/store/store.js'

export interface Faults {
  /** Undefined = all goes well. */
  disk: DiskFault | undefined
  /** How long reading and writing a file takes, ms. */
  slow: number
}

/** Each byte of a prompt that waits counts as so many: what may wait is more than a history can send at little cost. */
export const WAITING_SCALE = 1000

export function faultyStore(store: Store, faults: Faults): Store {
  const refuse = () => {
    if (faults.disk !== undefined) throw new SvcError('store.unavailable', 'The store cannot be written.', { reason: faults.disk })
  }
  return {
    ...store,
    queue: { ...store.queue, bytes: (id) => WAITING_SCALE * store.queue.bytes(id) },
    transact: (durability, change) =>
      store.transact(durability, () => {
        const result = change()
        refuse()
        return result
      }),
    async sync() {
      refuse()
      return store.sync()
    },
  }
}
