/** Paths as text and as places: joining, containment by whole segments, canonical form (threat-model F1). */
import { isWithin } from '../../../protocol/caller.js'

/** What the analysis may ask of the file system; nothing is changed. */
export interface FileView {
  /** Canonical path with links resolved; rejects when absent. */
  realPath(path: string): Promise<string>
  /** `link` is a link to nothing. */
  kindOf(path: string): Promise<'file' | 'directory' | 'link' | 'other' | undefined>
  /** Names in a directory; empty when it cannot be read. */
  list(path: string): Promise<readonly string[]>
  /** What `git <command>` may start in a canonical directory because its repository says so. */
  named(directory: string, command: string): Promise<readonly string[]>
}

const MAX_LINKS = 64
/** The system opens no longer path. */
const MAX_PATH = 4096

/** `path` from `base` when relative; not normalised, since `..` after a link is not the parent by name. */
export function joinPath(base: string, path: string): string {
  return path.startsWith('/') ? path : `${base === '/' ? '' : base}/${path}`
}

/** Removes `.`, `..` and doubled slashes of an absolute path by name alone. */
export function normalisePath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '/'
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** `path` relative to `directory` when inside, else absolute; `.` for the directory itself. */
export function displayPath(directory: string, path: string): string {
  if (path === directory) return '.'
  return isWithin(directory, path) ? path.slice(directory === '/' ? 1 : directory.length + 1) : path
}

/**
 * Canonical form of an absolute path whose end may not exist yet: links of the existing part are resolved,
 * step by step where `..` occurs. Undefined when it runs through a link to nothing, whose target is unknown.
 */
export async function canonicalPath(path: string, files: FileView): Promise<string | undefined> {
  if (path.length > MAX_PATH) return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (!parts.includes('..')) return canonicalStraight(parts, files)
  if (parts.length > MAX_LINKS) return undefined
  let at = '/'
  for (const part of parts) {
    const next = part === '..' ? parentOf(at) : await canonicalStraight(joinPath(at, part).split('/').filter(Boolean), files)
    if (next === undefined) return undefined
    at = next
  }
  return at
}

async function canonicalStraight(parts: readonly string[], files: FileView): Promise<string | undefined> {
  for (let known = parts.length; known > 0; known -= 1) {
    const prefix = `/${parts.slice(0, known).join('/')}`
    const real = await files.realPath(prefix).catch(() => undefined)
    if (real !== undefined) return normalisePath(`${real}/${parts.slice(known).join('/')}`)
    if ((await files.kindOf(prefix)) === 'link') return undefined
  }
  return `/${parts.join('/')}`
}
