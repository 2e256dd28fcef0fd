/**
 * A repository is what lies in its own directory: through a link in it, whoever may write there could show the content of another one
 * (threat-model F1).
 *
 * I1 What svc reads of refs, objects and packs itself is opened without following a link.
 * I2 Git follows links, and waits for what comes through a pipe. So a repository whose index or objects hold one is not given to it; directories
 *    that have not changed since they were looked at are not looked at again.
 */
import { join, resolve } from 'node:path'
import { createLru } from '../../kernel/lru.js'
import { LIMITS } from '../../protocol/limits.js'
import type { DirectoryEntry, Effects } from '../../ports/effects.js'

type Files = Pick<Effects['files'], 'read' | 'readRange' | 'readDirectory' | 'realPath' | 'stat'>

/** I1. Paths are below a canonical directory. */
export function unlinked(files: Files): Files {
  async function refuseLink(path: string): Promise<void> {
    const real = await files.realPath(path)
    if (real !== resolve(path)) throw new Error(`${path} leads to ${real}`)
  }
  return {
    realPath: files.realPath,
    stat: files.stat,
    async read(path, maxBytes) {
      await refuseLink(path)
      return files.read(path, maxBytes, { canonical: true })
    },
    async readRange(path, offset, length) {
      await refuseLink(path)
      return files.readRange(path, offset, length, { canonical: true })
    },
    async readDirectory(path) {
      await refuseLink(path)
      return files.readDirectory(path)
    },
  }
}

/** A directory that was changed this short a time ago may be changed again without another time to tell it, ms. */
const GRAIN = 1000

/** Rejects with a sentence when there is a link or a special file in a directory, canonical, or below it, or more directories than git makes. */
export type CheckLinks = (directory: string) => Promise<void>

interface Clean {
  readonly identity: string
  readonly directories: readonly string[]
}

/** I2. */
export function createCheckLinks({ files, clock }: Pick<Effects, 'files' | 'clock'>): CheckLinks {
  /** Of each directory that was asked for, what is in it and below it. */
  const known = createLru<string, ReadonlyMap<string, Clean>>(LIMITS.git.indexes)

  async function directoriesIn(directory: string): Promise<readonly string[]> {
    const entries = await files.readDirectory(directory)
    const odd = entries.find(({ kind }) => kind !== 'file' && kind !== 'directory')
    if (odd !== undefined) throw new Error(`${join(directory, odd.name)} is ${kindOf(odd)}`)
    return entries.flatMap(({ name, kind }) => (kind === 'directory' ? [join(directory, name)] : []))
  }

  return async (directory) => {
    const before = known.get(directory)
    const now = new Map<string, Clean>()
    const open = [directory]
    for (const at of open) {
      const stat = await files.entry(at)
      if (stat?.kind !== 'directory') continue
      const same = before?.get(at)
      const clean = same?.identity === stat.identity ? same : { identity: stat.identity, directories: await directoriesIn(at) }
      if (clean === same || stat.changedMs < clock.now() - GRAIN) now.set(at, clean)
      if (open.length + clean.directories.length > LIMITS.git.objectDirectories)
        throw new Error(`its objects are in more than ${LIMITS.git.objectDirectories} directories`)
      open.push(...clean.directories)
    }
    known.set(directory, now)
  }
}

/** As a sentence says it. */
export function kindOf({ kind }: Pick<DirectoryEntry, 'kind'>): string {
  return kind === 'link' ? 'a link' : kind === 'directory' ? 'a directory' : 'a special file'
}
