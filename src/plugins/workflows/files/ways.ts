/**
 * The folders that lead to a directory which is not there: one of them tells when it comes.
 *
 * I1 Each folder is watched before it is looked for in it; one watch serves all who listen to it, until another folder may stand at its path.
 * I2 A way is told where every folder of it that exists tells what happens in it. A folder further above that may not be listed is excepted: it
 *    is not ours to move.
 * I3 A link on the way is heard at both of its ends. One that leads nowhere is not: what comes at its end is told to nobody here.
 */
import { isWithin } from '../../../protocol/caller.js'
import type { Effects } from '../../../ports/effects.js'
import { basename, dirname, joinPath } from '../../../protocol/text/paths.js'

interface Way {
  /** Hears the way as it is now, and forgets how it was; false where not all of it is told. */
  hear(): Promise<boolean>
  leave(): void
  /** Leaves for good. */
  end(): void
}

export interface Ways {
  /** `stirred`: the directory may be there now, or the way is another one. */
  to(path: string, stirred: () => void): Way
}

type Listener = (name: string | undefined) => void

interface Folder {
  readonly end: () => void
  readonly listeners: Set<Listener>
}

type WayFiles = Pick<Effects['files'], 'watchFolder' | 'entry' | 'realPath'>

export function createWays(files: WayFiles): Ways {
  const hear = createFolders(files)
  return { to: (path, stirred) => wayTo(path, stirred, files, hear) }
}

/** Answers how not to listen any more, or why it cannot be listened to. */
type Hear = (folder: string, listener: Listener) => ReturnType<WayFiles['watchFolder']>

function createFolders(files: WayFiles): Hear {
  const folders = new Map<string, Folder>()

  function drop(path: string): void {
    if (!folders.has(path)) return
    for (const [folder, { end }] of folders) {
      if (!isWithin(path, folder)) continue
      folders.delete(folder)
      end()
    }
  }

  function begin(path: string): Folder | Exclude<ReturnType<WayFiles['watchFolder']>, () => void> {
    const listeners = new Set<Listener>()
    const end = files.watchFolder(path, (name, isMove) => {
      if (isMove) drop(name === undefined ? path : joinPath(path, name)) // I1
      const told = [...listeners] // who hears the way anew listens again
      for (const listener of told) listener(name)
    })
    if (typeof end === 'string') return end
    const folder = { end, listeners }
    folders.set(path, folder)
    return folder
  }

  return (path, listener) => {
    const folder = folders.get(path) ?? begin(path)
    if (typeof folder === 'string') return folder
    folder.listeners.add(listener)
    return () => {
      folder.listeners.delete(listener)
      if (folder.listeners.size > 0 || folders.get(path) !== folder) return
      folders.delete(path)
      folder.end()
    }
  }
}

function wayTo(path: string, stirred: () => void, files: WayFiles, hear: Hear): Way {
  let ends: (() => void)[] = []
  let isOver = false

  function leave(): void {
    for (const end of ends) end()
    ends = []
  }

  /** Answers the last folder that is there, and whether it is all told. */
  function hearTo(place: string): { readonly last: string; readonly isTold: boolean } {
    const lineage = lineageOf(place)
    let last = '/'
    let isTold = true
    for (const [at, folder] of lineage.entries()) {
      const next = basename(lineage[at + 1] ?? place)
      const heard = hear(folder, (name) => {
        if (name === undefined || name === next) stirred()
      })
      if (heard === 'absent') break
      if (typeof heard !== 'string') ends.push(heard)
      last = folder
      isTold = typeof heard !== 'string' // I2
      if (heard === 'refused') break
    }
    return { last, isTold }
  }

  return {
    async hear() {
      leave()
      if (isOver) return false
      const { last, isTold } = hearTo(path)
      if (!isTold) return false
      const real = await files.realPath(last).catch(() => undefined)
      if (real === undefined || isOver) return false
      const missing = path.slice(last === '/' ? 1 : last.length + 1)
      if (real !== last && !hearTo(joinPath(real, missing)).isTold) return false // I3
      const entry = await files.entry(joinPath(real, missing.split('/', 1)[0] ?? '')).catch(() => undefined)
      return entry?.kind !== 'link'
    },
    leave,
    end() {
      isOver = true
      leave()
    },
  }
}

/** The folders above a path, topmost first. */
function lineageOf(path: string): readonly string[] {
  const lineage: string[] = []
  for (let at = path; at !== '/'; ) {
    at = dirname(at)
    lineage.unshift(at)
  }
  return lineage
}
