/**
 * What was found out about files, for as long as nothing tells that it may be different now.
 *
 * I1 The folders that a path leads through are watched before the path is looked at, links one by one; what happens meanwhile
 *    keeps the answer from being remembered.
 * I2 A change of a path is one of everything below it, and of everything that is reached through it by a link.
 * I3 What is reached through a folder that is not heard is named by `isHeard`; who asks has to look at it. A folder above that may
 *    not be listed is excepted: it is not ours to move.
 * I4 To forget costs what is forgotten: whoever may write there moves and removes thousands of folders.
 */
import { basename, dirname, join, resolve } from 'node:path'
import { createFolderTree, type FolderTree } from '../../kernel/folder-tree.js'
import { createLinks } from './links.js'
import type { DirectoryEntry, FileStat, Files } from '../../ports/effects.js'
import type { ReadOptions, TextOutcome } from '../../ports/watched.js'
import type { Dependency } from './dependency.js'
import type { FolderWatches, Hearing } from './folder-watches.js'

export interface FileMemory {
  readonly stats: Answers<FileStat | 'unreadable' | undefined>
  readonly listings: Answers<readonly DirectoryEntry[]>
  readonly canonical: Answers<string | undefined>
  readonly exposures: Answers<string>
  readonly contents: Answers<Content>
  readonly outcomes: Answers<KnownText>
  /** Whether every change of what is found at a path is told. */
  isHeard(path: string): boolean
  /** Forgets what is known of a path and of what is below. */
  forget(path: string): void
  forgetAll(): void
  /** Some folders cannot be watched, because the system has no more watches or does not tell. */
  readonly isDeaf: boolean
  end(): void
}

/** Answers to one question about paths. */
interface Answers<T> {
  /** The answer that is remembered, or else the one that is computed, which is remembered unless `keeps` says no. */
  recall(path: string, compute: () => Promise<T>, keeps?: (answer: T) => boolean): Promise<T>
}

/** Text that was read and where it really lies. */
export interface Content {
  readonly text: string
  readonly bytes: Uint8Array
}

/** A text with everything that was asked for it. */
interface KnownText {
  readonly options: ReadOptions
  readonly outcome: TextOutcome
  readonly dependencies: readonly (readonly [string, Dependency])[]
}

/** How a path is reached. */
interface Way {
  /** Canonical; undefined when nothing is there. */
  readonly real: string | undefined
  readonly isFolder: boolean
}

interface Heard {
  readonly hearing: Hearing
}

const NOWHERE: Way = { real: undefined, isFolder: false }
/** As many links as Linux follows. */
const MOST_LINKS = 40

export interface FileMemoryDeps {
  readonly files: Pick<Files, 'entry' | 'readLink'>
  readonly watches: FolderWatches
  /** Something that is remembered may be different now. */
  onChanged(): void
}

export function createFileMemory({ files, watches, onChanged }: FileMemoryDeps): FileMemory {
  const ways = createFolderTree<Way>(dirname)
  const links = createLinks()
  const hearings = createFolderTree<Heard>(dirname)
  const known: Pick<FolderTree<object>, 'delete' | 'drop'>[] = [ways]
  /** Folders that were not heard, by why. */
  const unheard = { absent: 0, forbidden: 0, refused: 0 }
  const listed = new Set<string>()
  let version = 0
  const listener = watches.listen((path, isMove) => {
    if (isMove) forgetHearings(path)
    if (!isKnown(path, isMove)) return
    forget(path)
    if (isMove) for (const tree of known) tree.delete(dirname(path)) // what it holds, not what is known of that
    onChanged()
  })

  function isKnown(path: string, isMove: boolean): boolean {
    return ways.get(path) !== undefined || (isMove && listed.has(dirname(path))) || listed.has(path) || links.through(path).size > 0
  }

  function forget(path: string): void {
    version += 1
    for (const tree of known) tree.drop(path)
    for (const link of links.through(path)) {
      if (!links.remove(link)) continue
      forget(link) // I2
    }
  }

  function hear(folder: string): void {
    if (hearings.get(folder) !== undefined) return
    const hearing = listener.hear(folder)
    hearings.set(folder, { hearing })
    if (hearing !== 'heard') unheard[hearing]++
  }

  function forgetHearings(path: string): void {
    for (const { hearing } of hearings.drop(path)) if (hearing !== 'heard') unheard[hearing]--
  }

  async function wayTo(path: string, depth = 0): Promise<Way> {
    const found = ways.get(path)
    if (found !== undefined) return found
    const before = version
    const way = await findWay(path, depth)
    if (version === before) ways.set(path, way)
    return way
  }

  async function findWay(path: string, depth: number): Promise<Way> {
    const folder = dirname(path)
    if (folder === path) return { real: path, isFolder: true }
    const parent = await wayTo(folder, depth)
    if (parent.real === undefined || !parent.isFolder) return NOWHERE
    hear(parent.real) // I1
    const own = join(parent.real, basename(path))
    const entry = await files.entry(own).catch(() => undefined)
    if (entry === undefined) return NOWHERE
    if (entry.kind !== 'link') return { real: own, isFolder: entry.kind === 'directory' }
    const target = await files.readLink(own).catch(() => undefined)
    if (target === undefined || depth >= MOST_LINKS) return NOWHERE
    const place = resolve(parent.real, target)
    const end = await wayTo(place, depth + 1)
    links.put(path, [own, place, ...(end.real === undefined ? [] : [end.real])])
    return end
  }

  function answers<T>(also: (way: Way) => void = () => undefined): Answers<T> {
    const mine = createFolderTree<{ readonly answer: T }>(dirname)
    known.push(mine)
    return {
      async recall(path, compute, keeps = () => true) {
        const remembered = mine.get(path)
        if (remembered !== undefined) return remembered.answer
        also(await wayTo(path))
        const before = version
        const answer = await compute()
        if (version === before && keeps(answer)) mine.set(path, { answer }) // I1
        return answer
      },
    }
  }

  function isDeafAt(path: string, isDirect: boolean): boolean {
    const real = ways.get(path)?.real
    const hearing = real === undefined ? undefined : hearings.get(real)?.hearing
    return hearing === 'refused' || (isDirect && hearing === 'forbidden')
  }

  return {
    stats: answers(),
    listings: answers(({ real, isFolder }) => {
      if (real === undefined || !isFolder) return
      hear(real)
      listed.add(real)
    }),
    canonical: answers(),
    exposures: answers(),
    contents: answers(),
    outcomes: answers(),
    isHeard(path) {
      if (unheard.forbidden + unheard.refused === 0) return true
      if (isDeafAt(path, true)) return false
      for (let folder = path; folder !== dirname(folder); ) {
        folder = dirname(folder)
        if (isDeafAt(folder, folder === dirname(path))) return false // I3
      }
      return true
    },
    forget,
    forgetAll() {
      forgetHearings('/')
      forget('/')
    },
    get isDeaf() {
      return unheard.refused > 0
    },
    end: listener.end,
  }
}
