/** To root, everything is readable: what the system denies is seen only by others. */
import { lchownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const NOBODY = 65_534

/**
 * Runs as a user without privileges to whom everything below `root` belongs: as whoever this is, or as nobody in the place
 * of root.
 */
export async function asOrdinaryUser<T>(root: string, run: () => Promise<T>): Promise<T> {
  const before = process.geteuid?.()
  if (before !== 0) return run()
  give(root, NOBODY)
  process.seteuid?.(NOBODY)
  try {
    return await run()
  } finally {
    process.seteuid?.(before)
    give(root, before)
  }
}

function give(root: string, user: number): void {
  for (const name of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })]) lchownSync(join(root, name), user, user)
}
