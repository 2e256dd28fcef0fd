/** Folders of the machine as clients name and browse them (subsystems o.1; threat-model F1). */
import { dirname, join, resolve } from 'node:path'
import { mayUseDirectory } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { DirectoryListing } from '../../protocol/system/system.js'
import type { Effects } from '../../ports/effects.js'
import { nextTurn } from '../../kernel/pause.js'
import { compare } from '../../kernel/sort.js'

export interface Directories {
  /** Canonical directory; relative paths start at `base`, `~` at the home folder. Throws `request.invalid_directory`. */
  canonical(path: string, base: string): Promise<string>
  /** A folder and its child folders; without a path the caller's first folder, else the working directory. */
  list(caller: Caller, path: string | undefined): Promise<DirectoryListing>
  /** Absolute paths of folders that begin with what somebody has typed so far; empty where that leads nowhere. Hidden ones when their dot was typed. */
  complete(caller: Caller, text: string, base: string, limit: number): Promise<string[]>
}

export function createDirectories({ files, paths }: Pick<Effects, 'files' | 'paths'>, workingDirectory: string): Directories {
  /** Looks of this turn of the event loop: many requests that come together name one folder, and it is looked at once for them. */
  let looks = new Map<string, Promise<string>>()

  function canonical(path: string, base: string): Promise<string> {
    const named = `${base}\0${path}`
    const known = looks.get(named)
    if (known !== undefined) return known
    if (looks.size === 0) void nextTurn().then(() => (looks = new Map()))
    const look = lookAt(path, base)
    looks.set(named, look)
    return look
  }

  async function lookAt(path: string, base: string): Promise<string> {
    const target = await realPathOf(resolve(base, expandHome(path, paths.home)), path)
    const stat = await files.stat(target)
    if (stat?.kind !== 'directory') throw invalid(path, 'is not a directory')
    return target
  }

  async function realPathOf(absolute: string, shown: string): Promise<string> {
    try {
      return await files.realPath(absolute)
    } catch {
      throw invalid(shown, 'does not exist or cannot be read')
    }
  }

  async function list(caller: Caller, path: string | undefined): Promise<DirectoryListing> {
    const home = defaultOf(caller, workingDirectory)
    const folder = await canonical(path === undefined || path.trim() === '' ? home : path, home)
    if (!mayUseDirectory(caller, folder)) throw new SvcError('auth.directory_forbidden')
    const children = await childrenOf(caller, folder, path ?? folder)
    const parent = dirname(folder)
    return {
      path: folder,
      parent: parent !== folder && mayUseDirectory(caller, parent) ? parent : null,
      entries: children.slice(0, LIMITS.directories.entries),
      ...(children.length > LIMITS.directories.entries && { truncated: true }),
    }
  }

  async function childrenOf(caller: Caller, folder: string, shown: string): Promise<{ name: string; path: string }[]> {
    const byPath = new Map<string, { name: string; path: string }>()
    const entries = await files.readDirectory(folder).catch(() => {
      throw invalid(shown, 'cannot be read')
    })
    for (const entry of entries) {
      const target = entry.kind === 'link' ? await linkedDirectory(join(folder, entry.name)) : join(folder, entry.name)
      if (target === undefined || (entry.kind !== 'directory' && entry.kind !== 'link')) continue
      const known = byPath.get(target)
      const isBetterName = known === undefined || entry.kind === 'directory'
      if (isBetterName && mayUseDirectory(caller, target)) byPath.set(target, { name: entry.name, path: target })
    }
    return [...byPath.values()].toSorted((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.name, b.name))
  }

  async function linkedDirectory(path: string): Promise<string | undefined> {
    try {
      const target = await files.realPath(path)
      return (await files.stat(target))?.kind === 'directory' ? target : undefined
    } catch {
      return undefined
    }
  }

  async function complete(caller: Caller, text: string, base: string, limit: number): Promise<string[]> {
    const typed = text.trim()
    const at = typed.lastIndexOf('/') + 1
    const start = typed.slice(at).toLowerCase()
    const parent = typed === '~' ? '~' : at === 0 ? '.' : typed.slice(0, at)
    const folder = await canonical(parent, base).catch(() => undefined)
    if (folder === undefined || !mayUseDirectory(caller, folder)) return []
    const children = await childrenOf(caller, folder, typed).catch(() => [])
    const isMeant = ({ name }: { readonly name: string }) =>
      typed === '~' ? !name.startsWith('.') : name.toLowerCase().startsWith(start) && (start.startsWith('.') || !name.startsWith('.'))
    return children
      .filter(isMeant)
      .slice(0, limit)
      .map(({ path }) => path)
  }

  return { canonical, list, complete }
}

/** Where a caller who names nothing starts: inside what it may use. */
function defaultOf({ directoryPrefixes }: Caller, workingDirectory: string): string {
  if (directoryPrefixes === undefined) return workingDirectory
  const [first] = directoryPrefixes
  if (first === undefined) throw new SvcError('auth.directory_forbidden')
  return first
}

function expandHome(path: string, home: string): string {
  if (path.includes('\0')) throw invalid(path.replaceAll('\0', ''), 'contains a NUL character')
  if (path === '~') return home
  if (/^~[/\\]/.test(path)) return join(home, path.slice(2))
  if (path.startsWith('~')) throw invalid(path, 'names the home folder of somebody else')
  return path
}

function invalid(path: string, reason: string): SvcError {
  return new SvcError('request.invalid_directory', `The directory "${path}" ${reason}.`, { directory: path })
}
