/** How machines end, whatever makes them: the machine first, and only then what it had. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Allocation } from '../records/machines.js'
import type { Driver } from './driver.js'
import type { Front } from './front.js'
import { machineName } from './names.js'

export interface Ending {
  /** Ends what runs of this allocation, gently and then not; resolves when its volume is free. Nothing runs: at once. */
  end(allocation: Allocation): Promise<void>
  /** Takes away what is left of a machine that has ended; its volume only when it is asked to. */
  clear(allocation: Allocation, what: 'machine' | 'machine and volume'): Promise<void>
}

export function endedBy({ end, clear }: Ending): Pick<Driver, 'stop' | 'remove'> {
  return {
    async stop(allocation) {
      await end(allocation)
      return { state: 'stopped', ready: false }
    },
    async remove(allocation, what) {
      await end(allocation)
      await clear(allocation, what)
    },
  }
}

/** Of machines of this machine, each with a folder and a front: the volume is in the folder, beside `others`, which are of the machine alone. */
export function endedHere(
  fronts: Map<string, Front>,
  homeOf: (allocation: Allocation) => string,
  { end, others }: Pick<Ending, 'end'> & { readonly others: readonly string[] },
): Pick<Driver, 'stop' | 'remove'> {
  return endedBy({
    async end(allocation) {
      await end(allocation)
      const name = machineName(allocation)
      fronts.get(name)?.close()
      fronts.delete(name)
    },
    async clear(allocation, what) {
      const gone = what === 'machine' ? ['launch', 'run', ...others] : ['.']
      for (const each of gone) await rm(join(homeOf(allocation), each), { recursive: true, force: true })
    },
  })
}
