/** The log of the last while as a file of its own, for `svc logs`: appended, and kept to two files of bounded size. */
import { appendFileSync, constants, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'

/** Where the log of a state directory is; what came before it is beside it, with `.1` at its end. */
export function logFileOf(state: string): string {
  return `${state}/log/svc.log`
}

/** Nothing is written through a link, and nobody is waited for who would read a pipe of that name. Node takes numbers, and its types do not say so. */
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const OWN_FILE = (O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK) as unknown as string

/** Writes whole lines. A file that cannot be written is no reason to stop: its lines are lost. */
export function createLogFile(path: string): (line: string) => void {
  let size: number | undefined
  return (line) => {
    try {
      size ??= begin(path)
      if (size > LIMITS.log.fileBytes) {
        renameSync(path, `${path}.1`)
        size = 0
      }
      appendFileSync(path, line, { mode: 0o600, flag: OWN_FILE })
      size += Buffer.byteLength(line)
    } catch {
      size = undefined
    }
  }
}

/** Bytes that are there. */
function begin(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
