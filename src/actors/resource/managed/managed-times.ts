/**
 * When managed files were made (`ManagedResource.createdAt`, http-contract §2.10): a file that is replaced has a new time of its own, so
 * the time it had before is kept in the state directory.
 *
 * I1 Only files that were replaced here are in it; the time of every other is that of the file.
 * I2 What cannot be read tells nothing, and is written anew.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'

const Times = z.looseObject({ version: z.literal(1), created: z.record(z.string(), z.number()) })

export interface ManagedTimes {
  /** When a file was made that changed at `modifiedMs` last. */
  createdAt(path: string, modifiedMs: number): Promise<number>
  /** To be called before a file is replaced or, with undefined, removed. */
  replacing(path: string, modifiedMs: number | undefined): Promise<void>
}

export function createManagedTimes({ files, paths }: Pick<Effects, 'files' | 'paths'>): ManagedTimes {
  const place = join(paths.state, 'managed-times.json')
  const { entries, bytes } = LIMITS.management.times
  let known: ReadonlyMap<string, number> | undefined

  async function load(): Promise<ReadonlyMap<string, number>> {
    known ??= await readTimes()
    return known
  }

  async function readTimes(): Promise<ReadonlyMap<string, number>> {
    try {
      const read = Times.safeParse(JSON.parse(Buffer.from(await files.read(place, bytes)).toString('utf8')))
      return new Map(read.success ? Object.entries(read.data.created) : [])
    } catch {
      return new Map() // I2
    }
  }

  return {
    async createdAt(path, modifiedMs) {
      return Math.min((await load()).get(path) ?? Number.POSITIVE_INFINITY, Math.floor(modifiedMs))
    },
    async replacing(path, modifiedMs) {
      const before = await load()
      if (before.has(path) === (modifiedMs !== undefined)) return
      const next = new Map(before)
      if (modifiedMs === undefined) next.delete(path)
      else next.set(path, Math.floor(modifiedMs))
      const kept = new Map([...next].slice(-entries))
      await files.writeAtomic(place, JSON.stringify({ version: 1, created: Object.fromEntries(kept) }), { mode: 0o600 })
      known = kept
    },
  }
}
