/**
 * What commands left that were killed while they wrote a package.
 *
 * I1 What a killed command had moved away and not replaced is put back; what it was writing is removed.
 * I2 The room of a command that runs is left alone.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Beside the packages, where svc looks for none: `.adding-<process>-<six characters>`. */
export const roomPrefix = (pid: number): string => `.adding-${pid}-`
const ROOM = /^\.adding-(\d+)-\w{6}$/

/** In a room: what a package replaces, by its id, until that is in its place. */
export const REPLACED = 'replaced'

/** Of the folder of the configuration. Never throws: what cannot be put back stays where it is. */
export function recoverRooms(config: string): void {
  for (const room of namesIn(config)) {
    const pid = ROOM.exec(room)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue // I2
    try {
      recover(config, join(config, room))
    } catch {
      continue
    }
  }
}

function recover(config: string, room: string): void {
  for (const id of namesIn(join(room, REPLACED))) {
    const root = join(config, 'plugins', id)
    if (!existsSync(root)) renameSync(join(room, REPLACED, id), root) // I1
  }
  rmSync(room, { recursive: true, force: true })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A process of somebody else is one, too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
