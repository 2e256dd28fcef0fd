/**
 * Files that tell people and other commands something, and that nothing rests on: one that cannot be written or taken away is no reason to fail,
 * and least of all to stop halfway through a stop.
 */
import { rmSync, writeFileSync } from 'node:fs'

/** For this user alone; false when it could not be written. */
export function leaveHint(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { mode: 0o600 })
    return true
  } catch {
    removeHint(path)
    return false
  }
}

export function removeHint(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // whoever reads it looks whether it is true
  }
}
