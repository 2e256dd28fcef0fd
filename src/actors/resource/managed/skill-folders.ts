/**
 * Puts a whole bundle in the place of another.
 *
 * I1 The new files are complete and on disk before the old ones move. I2 What is moved is noted before, so that the next start
 *    puts the old files back when it was cut short between the two: a skill is there whole, the old one or the new one.
 */
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { Bundle } from './skill-bundle.js'

type FolderEffects = Pick<Effects, 'files' | 'paths' | 'random' | 'log'>

export interface SkillFolders {
  /** `target` is the canonical folder of a skill; without a bundle it is removed. */
  replace(target: string, bundle: Bundle | undefined): Promise<void>
  /** Ends what an earlier process left. */
  recover(): Promise<void>
}

const STAGING = '.staging'
const Move = z.object({ target: z.string(), old: z.string(), staging: z.string() })
type Move = z.infer<typeof Move>

export function createSkillFolders({ files, paths, random, log }: FolderEffects): SkillFolders {
  const notes = join(paths.state, 'skill-writes')

  async function tidy(staging: string): Promise<void> {
    await files.removeTree(staging)
    await files.remove(dirname(staging)).catch(() => undefined) // others may use it
  }

  /** Puts the old files back when nothing took their place; answers whether it did. */
  async function settle({ target, old, staging }: Move, note: string): Promise<boolean> {
    const isCut = (await files.entry(target)) === undefined && (await files.entry(old)) !== undefined
    if (isCut) await files.rename(old, target)
    await files.remove(note)
    await tidy(staging)
    return isCut
  }

  async function move({ target, old, staging }: Move, note: string, bundle: Bundle | undefined): Promise<void> {
    const fresh = join(staging, 'new')
    for (const [path, bytes] of bundle ?? []) await files.writeAtomic(join(fresh, path), bytes) // I1
    await files.makeDirectory(staging)
    await files.makeDirectory(dirname(target))
    await files.writeAtomic(note, JSON.stringify({ target, old, staging }), { mode: 0o600 }) // I2
    if ((await files.entry(target)) !== undefined) await files.rename(target, old)
    if (bundle !== undefined) await files.rename(fresh, target)
    await files.remove(note)
    await tidy(staging)
  }

  return {
    async replace(target, bundle) {
      const key = Buffer.from(random.bytes(8)).toString('hex')
      const staging = join(dirname(dirname(target)), STAGING, key)
      const planned = { target, old: join(staging, 'old'), staging }
      const note = join(notes, `${key}.json`)
      try {
        await move(planned, note, bundle)
      } catch (error) {
        await settle(planned, note)
        throw error
      }
    },
    async recover() {
      if ((await files.stat(notes)) === undefined) return
      for (const { name } of await files.readDirectory(notes)) {
        const note = join(notes, name)
        const planned = Move.safeParse(JSON.parse(Buffer.from(await files.read(note, LIMITS.config.fileBytes)).toString('utf8')))
        if (!planned.success) continue
        const isBack = await settle(planned.data, note)
        log.warn('a write of a skill was cut short', { skill: planned.data.target, end: isBack ? 'the old one is back' : 'it was done' })
      }
    },
  }
}
