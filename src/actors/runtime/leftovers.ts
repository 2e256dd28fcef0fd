/**
 * Removes what a kill or a loss of power has left of writes in the folders of the state and of the configuration (threat-model F3). It may hold a credential.
 *
 * I1 A write that is under way, in whatever process, has changed its file within `LIMITS.leftovers.age`.
 */
import { isTemporaryName } from '../../kernel/temporary-name.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../../ports/effects.js'

export interface Leftovers {
  /** Answers how many were removed; a folder that cannot be read has none. */
  sweep(): Promise<number>
}

export function createLeftovers(effects: Pick<Effects, 'files' | 'clock' | 'log'>, folders: readonly string[]): Leftovers {
  const { files, clock, log } = effects

  async function isLeft(path: string): Promise<boolean> {
    const found = await files.entry(path)
    return found?.kind === 'file' && clock.now() - found.changedMs >= LIMITS.leftovers.age
  }

  async function sweepFolder(folder: string): Promise<number> {
    const entries = await files.readDirectory(folder).catch(() => [])
    let removed = 0
    for (const { name } of entries) {
      if (!isTemporaryName(name) || !(await isLeft(`${folder}/${name}`))) continue
      await files.remove(`${folder}/${name}`)
      removed++
    }
    return removed
  }

  return {
    async sweep() {
      let removed = 0
      for (const folder of folders) removed += await sweepFolder(folder)
      if (removed > 0) log.info('files were removed that writes left unfinished', { count: removed })
      return removed
    },
  }
}
