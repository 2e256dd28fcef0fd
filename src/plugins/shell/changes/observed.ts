/** A path as it was at one moment: enough to tell later what has changed, and to bring it back. */
import type { FileStateNotes } from '../../../ports/doors.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { FileState } from '../../../protocol/session/snapshot.js'

type Files = NativeHost['effects']['files']

export type Observed =
  | { readonly kind: 'absent' }
  | { readonly kind: 'link'; readonly target: string }
  /** `content` is missing when it is too much; `identity` when it comes from a repository. */
  | { readonly kind: 'file'; readonly content: Uint8Array | undefined; readonly mode: number; readonly identity?: string }
  /** Not ours to bring back: a special file, or a link whose end is no text. */
  | { readonly kind: 'other' }

/** Bytes that one observation may still hold. */
export interface Room {
  bytes: number
}

/** `path` was told by git, or found, when no link led to it: what a link leads to now lies elsewhere, and is nobody's to look at (threat-model F1). */
export async function observe(files: Files, path: string, room: Room): Promise<Observed> {
  if (await isBehindLink(files, path)) return { kind: 'absent' }
  const entry = await files.entry(path)
  if (entry === undefined || entry.kind === 'directory') return { kind: 'absent' }
  if (entry.kind === 'link') {
    const target = await files.readLink(path)
    return target === undefined ? { kind: 'other' } : { kind: 'link', target }
  }
  if (entry.kind !== 'file') return { kind: 'other' }
  const { mode, identity, size } = entry
  if (size > Math.min(room.bytes, LIMITS.undo.stateBytes)) return { kind: 'file', content: undefined, mode, identity }
  const content = await files.read(path, LIMITS.undo.stateBytes, { canonical: true }).catch(() => undefined)
  room.bytes -= content?.length ?? 0
  return { kind: 'file', content, mode, identity }
}

async function isBehindLink(files: Files, path: string): Promise<boolean> {
  const folder = path.slice(0, path.lastIndexOf('/')) || '/'
  return (await files.realPath(folder).catch(() => folder)) !== folder
}

export function isUnchanged(before: Observed, after: Observed): boolean {
  if (before.kind === 'link' && after.kind === 'link') return before.target === after.target
  if (before.kind !== 'file' || after.kind !== 'file') return before.kind === after.kind
  if (before.identity !== undefined && before.identity === after.identity) return true
  if (before.content === undefined || after.content === undefined || before.mode !== after.mode) return false
  return Buffer.compare(before.content, after.content) === 0
}

/** Undefined when it cannot be brought back. */
export async function stateOf(observed: Observed, notes: FileStateNotes): Promise<FileState | undefined> {
  if (observed.kind === 'absent') return { exists: false }
  if (observed.kind === 'link') return { exists: true, link: observed.target }
  if (observed.kind === 'other' || observed.content === undefined) return undefined
  const state = await notes.file(observed.content, observed.mode)
  return state.contentBase64 === undefined && state.stored !== true ? undefined : state
}
