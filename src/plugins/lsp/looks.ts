/**
 * What was seen in directories, for as long as it is so (subsystems e.3).
 *
 * I1 The names of a directory are remembered by its identity before they were read: a name that comes or goes makes it another one. So a
 *    second look reads only what has changed, and nothing else is read when nothing has.
 * I2 A directory that changed so lately that another change could not be told from it is read again.
 * I3 Links are not followed; directories that cannot be read hold nothing.
 */
import type { DirectoryEntry } from '../../ports/effects.js'
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import { sortInTurns } from '../../kernel/sort.js'
import { beginWork, ENTRY, LOOK, type Work } from '../../kernel/work.js'
import { type Evidence, lookAt } from './scan.js'

export interface Looks {
  /** The same value as before when nothing has changed. */
  at(directory: string, signal: AbortSignal): Promise<Evidence>
}

interface Folder {
  readonly identity: string
  readonly entries: readonly DirectoryEntry[]
}

interface Look {
  readonly evidence: Evidence
  readonly folders: ReadonlyMap<string, Folder>
  /** It read nothing that is not remembered. */
  readonly isWhole: boolean
}

/** What a part of a sort touches. */
const SORTED = 2048 * ENTRY

export function createLooks({ files, clock }: Pick<NativeHost['effects'], 'files' | 'clock'>): Looks {
  const known = createLru<string, Look>(LIMITS.lsp.looks)
  const entryOf = (path: string) => files.entry(path).catch(() => undefined)

  async function isSo({ folders, isWhole }: Look): Promise<boolean> {
    if (!isWhole) return false
    for (const [path, { identity }] of folders) if ((await entryOf(path))?.identity !== identity) return false
    return true
  }

  async function look(directory: string, before: Look | undefined, signal: AbortSignal): Promise<Look> {
    const folders = new Map<string, Folder>()
    let isWhole = true
    const work = beginWork(Number.POSITIVE_INFINITY)
    const evidence = await lookAt(
      async (path) => {
        const entry = await entryOf(path)
        const old = before?.folders.get(path)
        const isOld = old !== undefined && old.identity === entry?.identity
        const entries = isOld ? old.entries : await inOrder(await files.readDirectory(path).catch(() => []), work)
        if (entry !== undefined && folders.size < LIMITS.lsp.lookDirectories && entry.changedMs < clock.now() - LIMITS.files.grain)
          // I2
          folders.set(path, isOld ? old : { identity: entry.identity, entries })
        else isWhole = false
        return entries
      },
      directory,
      signal,
    )
    return { evidence, folders, isWhole }
  }

  return {
    async at(directory, signal) {
      const before = known.get(directory)
      if (before !== undefined && (await isSo(before))) return before.evidence
      const made = await look(directory, before, signal)
      known.set(directory, made)
      return made.evidence
    },
  }
}

async function inOrder(entries: readonly DirectoryEntry[], work: Work): Promise<readonly DirectoryEntry[]> {
  await work.pay(entries.length + LOOK)
  const some = entries.filter(({ kind }) => kind === 'file' || kind === 'directory')
  return sortInTurns(
    some,
    (a, b) => (a.name < b.name ? -1 : 1),
    () => work.pay(SORTED),
  )
}
