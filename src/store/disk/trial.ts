/** Whether a folder can be written now: SQLite tells that it could not, seldom why, and the system allows what its disk then refuses. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A page of a database: the name of a file may find room where nothing else does. */
const PAGE = new Uint8Array(4096)

/** What the system says of a file that is made in the folder and gone again (`EROFS`, `ENOSPC`); undefined = it can be written. */
export function whyUnwritable(directory: string): string | undefined {
  const path = join(directory, `.agent.trial-${process.pid}`)
  try {
    rmSync(path, { force: true })
    const file = openSync(path, 'wx', 0o600)
    try {
      writeSync(file, PAGE)
    } finally {
      closeSync(file)
      rmSync(path, { force: true })
    }
    return undefined
  } catch (error) {
    return systemCode(error) ?? 'unknown'
  }
}

/** What the system calls an error (`EIO`). */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
