/** What a change of a file leaves in the record of its call: states before and after, and what follows from them (sessions-events §7.2). */
import type { FileStateNotes } from '../../../ports/doors.js'
import type { NativeHost } from '../../../ports/plugin.js'
import type { FileState } from '../../../protocol/session/snapshot.js'
import { createPatch, type FilePatch } from './patch.js'
import type { Target } from '../places/targets.js'
import { decodeText } from '../text/text.js'

export interface Change {
  readonly target: Target
  /** Undefined: the file was not there. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
  /** Permission bits before. */
  readonly mode: number | undefined
}

export interface ChangeRecord {
  readonly additions: number
  readonly deletions: number
  /** Keys `snapshots`, `diffs`, `files`, `diff`, `additions`, `deletions`; the derived ones only for UTF-8 text. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The record of a change; a file that stays as it is leaves no snapshot. */
export async function recordChange(change: Change, files: NativeHost['effects']['files'], notes: FileStateNotes): Promise<ChangeRecord> {
  const before: FileState = change.before === undefined ? { exists: false } : await notes.file(change.before, change.mode)
  const after = await notes.file(change.after, (await files.entry(change.target.path))?.mode)
  if (before.exists && before.sha256 === after.sha256 && before.mode === after.mode)
    return { additions: 0, deletions: 0, metadata: { additions: 0, deletions: 0 } }
  const { display, inside } = change.target
  const snapshot = { path: display, ...(!inside && { absolute: true }), before, after }
  const derived = derive(change)
  if (derived === undefined) return { additions: 0, deletions: 0, metadata: { snapshots: [snapshot] } }
  const { patch, additions, deletions, oldStart, newStart } = derived
  const kind = before.exists ? 'modified' : 'added'
  return {
    additions,
    deletions,
    metadata: {
      snapshots: [snapshot],
      diffs: [
        {
          path: display,
          kind,
          additions,
          deletions,
          oldStart,
          newStart,
          ...(before.sha256 !== undefined && { beforeSha256: before.sha256 }),
          afterSha256: after.sha256,
        },
      ],
      files: [
        {
          filePath: change.target.path,
          relativePath: display,
          type: before.exists ? 'update' : 'add',
          ...(patch !== undefined && { patch }),
          additions,
          deletions,
        },
      ],
      ...(patch !== undefined && { diff: patch }),
      additions,
      deletions,
    },
  }
}

/** The record of a file that is gone. */
export async function recordRemoval(
  { target, before, mode }: { readonly target: Target; readonly before: Uint8Array; readonly mode: number | undefined },
  notes: FileStateNotes,
): Promise<ChangeRecord> {
  const state = await notes.file(before, mode)
  const { display, inside, path } = target
  const snapshots = [{ path: display, ...(!inside && { absolute: true }), before: state, after: { exists: false } }]
  const old = decodeText(before)
  if (old.status !== 'text') return { additions: 0, deletions: 0, metadata: { snapshots } }
  const { patch, deletions } = createPatch(display, old.file.stored, undefined)
  const shown = patch !== undefined && { patch }
  const files = [{ filePath: path, relativePath: display, type: 'delete', ...shown, additions: 0, deletions }]
  const diffs = [{ path: display, kind: 'deleted', additions: 0, deletions, oldStart: 1, newStart: 0, beforeSha256: state.sha256 }]
  return {
    additions: 0,
    deletions,
    metadata: { snapshots, diffs, files, ...(patch !== undefined && { diff: patch }), additions: 0, deletions },
  }
}

function derive({ target, before, after }: Change): FilePatch | undefined {
  const old = before === undefined ? undefined : decodeText(before)
  const now = decodeText(after)
  if (now.status !== 'text' || (old !== undefined && old.status !== 'text')) return undefined
  return createPatch(target.display, old?.file.stored, now.file.stored)
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
