/**
 * Paths that configuration names, for instructions, skills and whatever comes next: expanded first, judged then
 * (threat-model W3, W4).
 *
 * I1 The text of a workspace is never expanded: it names what lies in its worktree, letter by letter, or nothing.
 * I2 What leads through a worktree ends in it, whoever named it and whatever links say.
 */
import { isAbsolute, resolve } from 'node:path'
import { expandHome } from '../../../machines/permission/permission.js'
import { isWithin } from '../../../protocol/caller.js'
import { ancestors, type Trust } from './config-files.js'
import type { FileProbe } from '../../../ports/watched.js'

export type NamedPath =
  | { readonly ok: true; readonly path: string; readonly isAbsolute: boolean }
  /** The rest of a sentence that starts with the text. */
  | { readonly ok: false; readonly reason: string }

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|file:|data:)/i
const EXPANDABLE = /^[~$]|\{(?:env|file):/

export function isAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** What a text names by the trust of its layer; links are judged when the file is read. */
export function readNamedPath(text: string, from: { readonly trust: Trust; readonly home: string; readonly worktree: string }): NamedPath {
  if (text.trim() === '' || text.includes('\0')) return { ok: false, reason: 'is not a path' }
  if (isAddress(text)) return { ok: false, reason: 'is an address; only files are read' }
  if (text.includes('*')) return { ok: false, reason: 'is a pattern; name each file' }
  if (from.trust === 'installation') {
    const path = expandHome(text, from.home)
    return isAbsolute(path) ? { ok: true, path: resolve(path), isAbsolute: true } : { ok: true, path, isAbsolute: false }
  }
  if (EXPANDABLE.test(text)) return { ok: false, reason: 'is not expanded: a workspace names files of its worktree as they are' } // I1
  const isOutside = isAbsolute(text) ? !isWithin(from.worktree, resolve(text)) : text.split('/').includes('..')
  if (isOutside) return { ok: false, reason: 'is outside the worktree' }
  return isAbsolute(text) ? { ok: true, path: resolve(text), isAbsolute: true } : { ok: true, path: text, isAbsolute: false }
}

/** Where a file really has to lie: in the worktree once any part of the way to it does; undefined = anywhere. I2 */
export async function boundaryOf(probe: Pick<FileProbe, 'canonical'>, path: string, worktree: string): Promise<string | undefined> {
  if (isWithin(worktree, path)) return worktree
  for (const part of ancestors(path, '/')) {
    const real = await probe.canonical(part)
    if (real === undefined) return undefined
    if (isWithin(worktree, real)) return worktree
  }
  return undefined
}
