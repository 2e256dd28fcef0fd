/** A disk that takes its time with files, and that fails to say what is there where it fails to read. */
import type { FakeClock } from '../../src/simulation/clock.js'
import type { Disk } from '../../src/simulation/disk.js'
import type { Faults } from './faults.js'

export function slowDisk(disk: Disk, clock: FakeClock, faults: Faults): Disk {
  const slowly =
    <Args extends readonly unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (faults.slow > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, faults.slow))
      return work(...args)
    }
  const failing =
    <Args extends readonly [path: string, ...more: unknown[]], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (faults.disk === 'EIO') throw Object.assign(new Error(`EIO: ${args[0]}`), { code: 'EIO' })
      return work(...args)
    }
  return {
    ...disk,
    realPath: slowly(failing(disk.realPath)),
    readDirectory: slowly(failing(disk.readDirectory)),
    stat: slowly(failing(disk.stat)),
    entry: slowly(failing(disk.entry)),
    read: slowly(disk.read),
    writeAtomic: slowly(disk.writeAtomic),
    remove: slowly(disk.remove),
    rename: slowly(disk.rename),
  }
}
