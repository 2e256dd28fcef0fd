/**
 * The log of the last while as a file of its own, for `svc logs`: appended, and kept to two files of bounded size.
 *
 * I1 Nothing is written through a link, that of its folder included: the folder is opened once, and its files are those in it.
 * I2 Several servers may write one log: each looks now and then how long it has become, and before it begins a new one, whether another has.
 */
import { appendFileSync, closeSync, constants, existsSync, fstatSync, lstatSync, openSync, renameSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { makeDirectoriesSync } from '../../store/disk/make-directories.js'

/** Where the log of a state directory is; what came before it is beside it, with `.1` at its end. */
export function logFileOf(state: string): string {
  return `${state}/log/svc.log`
}

/** Nobody is waited for who would read a pipe of that name. Node takes numbers, and its types do not say so. */
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_DIRECTORY } = constants
const OWN_FILE = (O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK) as unknown as string
/** Opened files are found there, whatever has taken their name since. */
const OPENED = '/proc/self/fd'

interface Place {
  readonly folder: number
  /** Of the file, as it is opened. */
  readonly path: string
  /** As it was seen last, with what was written since. */
  size: number
  unseen: number
}

/** Writes whole lines, into a file of so many bytes. One that cannot be written is no reason to stop: its lines are lost. */
export function createLogFile(path: string, most: number = LIMITS.log.fileBytes): (line: string) => void {
  // Bytes that are written before it is looked how long the file has become.
  const pause = most / 16
  let place: Place | undefined
  return (line) => {
    try {
      place ??= begin(path)
      if (place.size > most || place.unseen > pause) look(place, most)
      appendFileSync(place.path, line, { mode: 0o600, flag: OWN_FILE })
      const bytes = Buffer.byteLength(line)
      place.size += bytes
      place.unseen += bytes
    } catch {
      if (place !== undefined) closeSync(place.folder)
      place = undefined
    }
  }
}

function begin(path: string): Place {
  const directory = dirname(path)
  makeDirectoriesSync(directory, 0o700)
  const folder = openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) // I1
  try {
    const opened = existsSync(`${OPENED}/${folder}`) ? `${OPENED}/${folder}/${basename(path)}` : inSame(directory, folder, path)
    return { folder, path: opened, size: bytesOf(opened), unseen: 0 }
  } catch (error) {
    closeSync(folder)
    throw error
  }
}

/** I2 */
function look(place: Place, most: number): void {
  place.unseen = 0
  place.size = bytesOf(place.path)
  if (place.size <= most) return
  renameSync(place.path, `${place.path}.1`)
  place.size = 0
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Where opened files have no names: the path, as long as it leads to what was opened. */
function inSame(directory: string, folder: number, path: string): string {
  const [named, opened] = [lstatSync(directory), fstatSync(folder)]
  if (named.ino !== opened.ino || named.dev !== opened.dev) throw new Error(`${directory} was exchanged`)
  return path
}
