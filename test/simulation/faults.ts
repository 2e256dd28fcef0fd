/** A database whose disk is full or broken for a while: what is written is done, and its commit fails. */
import { SvcError } from '../../src/protocol/errors.js'
import type { DiskFault } from '../../src/simulation/disk.js'
import type { Store } from '../../src/store/store.js'

export interface Faults {
  /** Undefined = all goes well. */
  disk: DiskFault | undefined
  /** How long reading and writing a file takes, ms. */
  slow: number
}

export function faultyStore(store: Store, faults: Faults): Store {
  const refuse = () => {
    if (faults.disk !== undefined) throw new SvcError('store.unavailable', 'The store cannot be written.', { reason: faults.disk })
  }
  return {
    ...store,
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
