/**
 * What the index of a repository lists, as far as somebody asked: read again when its file is another one.
 *
 * I1 While git writes the index nothing is said of it: what it has put into the worktree already is not listed yet.
 * I2 A name matches whatever its case and however its accents are encoded, because a file system may take both for one.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../effects.js'
import { createLru } from '../../protocol/lru.js'
import { type IndexContent, type IndexEntry, type ObjectFormat, readIndex } from './index-file.js'
import type { Repository } from './repository.js'

export interface Tracked {
  /** What may stand in the index for a path below the worktree; empty when nothing does. */
  entries(path: string): readonly IndexEntry[]
  /** Whether the path lies in a directory of a sparse index, which does not list its files. */
  isHidden(path: string): boolean
  /** Paths below the worktree that are repositories of their own. */
  readonly submodules: readonly string[]
}

export interface TrackedFiles {
  /** `paths` are those that will be asked for. Rejects when the index cannot be read, or is being written (I1). */
  read(repository: Repository, format: ObjectFormat, paths: readonly string[]): Promise<Tracked>
}

interface Kept {
  readonly stamp: string
  readonly asked: ReadonlySet<string>
  readonly tracked: Tracked
}

const NOTHING: Tracked = { entries: () => [], isHidden: () => false, submodules: [] }
/** Every name that ends so is kept, so that many questions need one reading. */
const USUAL = '.md'

export function createTrackedFiles(files: Pick<Effects['files'], 'read' | 'stat'>): TrackedFiles {
  const kept = createLru<string, Kept>(LIMITS.git.indexes)

  async function contentOf(path: string, format: ObjectFormat, matters: (name: string) => boolean): Promise<IndexContent> {
    const bytes = await files.read(path, LIMITS.git.indexBytes)
    const digest = (part: Uint8Array) => createHash(format).update(part).digest('hex')
    const reading = readIndex(bytes, { format, digest, matters })
    for (;;) {
      const piece = reading.next()
      if (piece.done === true) return piece.value
      await setImmediate()
    }
  }

  return {
    async read({ gitDirectory }, format, paths) {
      const lock = join(gitDirectory, 'index.lock')
      if ((await files.stat(lock)) !== undefined) throw new Error(`its index is being written (${lock} exists)`)
      const path = join(gitDirectory, 'index')
      const stat = await files.stat(path)
      if (stat === undefined) return NOTHING
      const before = kept.get(gitDirectory)
      const stamp = `${format} ${stat.identity}`
      const unusual = paths.map(folded).filter((each) => !each.endsWith(USUAL))
      if (before?.stamp === stamp && unusual.every((each) => before.asked.has(each))) return before.tracked
      const asked = new Set([...(before?.stamp === stamp ? before.asked : []), ...unusual])
      const matters = (name: string) => {
        const folds = folded(name)
        return folds.endsWith(USUAL) || asked.has(folds)
      }
      const own = await contentOf(path, format, matters)
      const shared =
        own.shared === undefined ? undefined : await contentOf(join(gitDirectory, `sharedindex.${own.shared}`), format, matters)
      if ((await files.stat(path))?.identity !== stat.identity) throw new Error('its index is being written')
      const tracked = trackedOf(shared === undefined ? [own] : [shared, own])
      kept.set(gitDirectory, { stamp, asked, tracked })
      return tracked
    },
  }
}

/** Entries without a name replace some of the shared part: which of them is not worth knowing, as each is content of the repository. */
function trackedOf(parts: readonly IndexContent[]): Tracked {
  const byName = new Map<string, IndexEntry[]>()
  for (const entry of parts.flatMap(({ entries }) => entries)) {
    const name = folded(entry.name)
    byName.set(name, [...(byName.get(name) ?? []), entry])
  }
  const nameless = byName.get('') ?? []
  const directories = parts.flatMap((part) => part.directories.map(folded))
  return {
    entries(path) {
      const named = byName.get(folded(path))
      return named === undefined ? [] : [...named, ...nameless]
    },
    submodules: parts.flatMap(({ submodules }) => submodules),
    isHidden: (path) => directories.some((directory) => folded(path).startsWith(directory)),
  }
}

/** I2. */
function folded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
