/**
 * What the index of a repository lists, as far as somebody asked: read again when its file is another one.
 *
 * I1 While git writes the index nothing is said of it: what it has put into the worktree already is not listed yet.
 * I2 A name matches whatever its case and however its accents are encoded, because a file system may take both for one.
 * I3 An index that says nothing that can be read is not read again before its file is another one; what the system refuses is.
 */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { beginWork, ENTRY, type Reading, type Work } from '../../kernel/work.js'
import type { Effects } from '../../ports/effects.js'
import { createLru } from '../../kernel/lru.js'
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

interface Failed {
  readonly stamp: string
  readonly error: unknown
}

const NOTHING: Tracked = { entries: () => [], isHidden: () => false, submodules: [] }
/** Every name that ends so is kept, so that many questions need one reading. */
const USUAL = '.md'
const ASCII = /^\p{ASCII}*$/u

export function createTrackedFiles(files: Pick<Effects['files'], 'read' | 'stat'>): TrackedFiles {
  const kept = createLru<string, Kept | Failed>(LIMITS.git.indexes)

  async function contentOf(path: string, format: ObjectFormat, matters: (name: string) => boolean, work: Work): Promise<IndexContent> {
    const bytes = await files.read(path, LIMITS.git.indexBytes)
    return work.read(readIndex(bytes, { format, hash: () => createHash(format), matters }))
  }

  async function readAll(gitDirectory: string, format: ObjectFormat, matters: (name: string) => boolean): Promise<Tracked> {
    const work = beginWork(LIMITS.git.indexWork)
    const own = await contentOf(join(gitDirectory, 'index'), format, matters, work)
    if (own.shared === undefined) return work.read(trackedOf([own]))
    const shared = await contentOf(join(gitDirectory, `sharedindex.${own.shared}`), format, matters, work)
    return work.read(trackedOf([shared, own]))
  }

  return {
    async read({ gitDirectory }, format, paths) {
      const lock = join(gitDirectory, 'index.lock')
      if ((await files.stat(lock)) !== undefined) throw new Error(`its index is being written (${lock} exists)`)
      const path = join(gitDirectory, 'index')
      const stat = await files.stat(path)
      if (stat === undefined) return NOTHING
      const found = kept.get(gitDirectory)
      const stamp = `${format} ${stat.identity}`
      const before = found?.stamp === stamp ? found : undefined
      if (before !== undefined && 'error' in before) throw before.error // I3
      const unusual = paths.map(folded).filter((each) => !each.endsWith(USUAL))
      if (before !== undefined && unusual.every((each) => before.asked.has(each))) return before.tracked
      const asked = new Set([...(before?.asked ?? []), ...unusual])
      const matters = (name: string) => {
        const folds = folded(name)
        return folds.endsWith(USUAL) || asked.has(folds)
      }
      const isSame = async () => (await files.stat(path))?.identity === stat.identity
      try {
        const tracked = await readAll(gitDirectory, format, matters)
        if (!(await isSame())) throw new Error('its index is being written')
        kept.set(gitDirectory, { stamp, asked, tracked })
        return tracked
      } catch (error) {
        if (!('code' in Object(error)) && (await isSame())) kept.set(gitDirectory, { stamp, error })
        throw error
      }
    },
  }
}

/** Entries without a name replace some of the shared part: which of them is not worth knowing, as each is content of the repository. */
function* trackedOf(parts: readonly IndexContent[]): Reading<Tracked> {
  const byName = new Map<string, IndexEntry[]>()
  const directories = new Set<string>()
  const submodules: string[] = []
  for (const part of parts) {
    for (const entry of part.entries) {
      const name = folded(entry.name)
      yield name.length + ENTRY
      const same = byName.get(name)
      if (same === undefined) byName.set(name, [entry])
      else same.push(entry)
      const most = name === '' ? LIMITS.git.replacedEntries : LIMITS.git.samePaths
      if ((same?.length ?? 0) > most) throw new Error(`it has more than ${most} entries for ${name === '' ? 'replaced paths' : 'one path'}`)
    }
    for (const directory of part.directories) {
      yield directory.length + ENTRY
      directories.add(folded(directory.replace(/\/$/, '')))
    }
    for (const submodule of part.submodules) {
      yield ENTRY
      submodules.push(submodule)
    }
  }
  const nameless = byName.get('') ?? []
  return {
    entries(path) {
      const named = byName.get(folded(path))
      return named === undefined ? [] : [...named, ...nameless]
    },
    submodules,
    isHidden(path) {
      for (let at = dirname(folded(path)); at !== '.' && at !== '/'; at = dirname(at)) if (directories.has(at)) return true
      return directories.has('')
    },
  }
}

/** I2. */
function folded(path: string): string {
  return (ASCII.test(path) ? path : path.normalize('NFC')).toLowerCase()
}
