/** A disk that takes its time with files. */
import type { FakeClock } from '../../src/simulation/clock.js'
import type { Disk } from '../../src/simulation/disk.js'
import type { Faults } from './faults.js'

export function slowDisk(disk: Disk, clock: FakeClock, faults: Pick<Faults, 'slow'>): Disk {
  const slowly =
    <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (faults.slow > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, faults.slow))
      return work(...args)
    }
  return {
    ...disk,
    realPath: slowly(disk.realPath),
    readDirectory: slowly(disk.readDirectory),
    stat: slowly(disk.stat),
    entry: slowly(disk.entry),
    read: slowly(disk.read),
    writeAtomic: slowly(disk.writeAtomic),
    remove: slowly(disk.remove),
    rename: slowly(disk.rename),
  }
}
