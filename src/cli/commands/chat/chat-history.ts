/** What was typed in chats, for the arrow keys: a file of the state directory that only this user can read. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nodePaths } from '../../../platform/node/paths.js'
import { makeDirectoriesSync } from '../../../store/disk/make-directories.js'

const file = () => join(nodePaths(process.env).state, 'chat-history.json')

/** The latest first. */
export function readHistory(): readonly string[] {
  try {
    const lines: unknown = JSON.parse(readFileSync(file(), 'utf8'))
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : []
  } catch {
    return []
  }
}

/** A history that cannot be kept is no reason to stop. */
export function keepHistory(lines: readonly string[]): void {
  try {
    makeDirectoriesSync(dirname(file()), 0o700)
    writeFileSync(file(), JSON.stringify(lines), { mode: 0o600 })
  } catch {
    // Typed again.
  }
}
