/** What a change of a file leaves in the record of its call: states before and after, and what follows from them (sessions-events §7.2). */
import type { NativeHost } from '../../actors/plugin/native/native.js'
import { createPatch, type FilePatch } from './patch.js'
import type { Target } from './targets.js'
import { decodeText } from './text.js'

/** Contents up to this size are kept in a snapshot; of larger ones the digest alone. */
const KEPT_BYTES = 256 * 1024

interface FileState {
  readonly exists: boolean
  readonly contentBase64?: string
  readonly sha256?: string
}

export interface Change {
  readonly target: Target
  /** Undefined: the file was not there. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
}

export interface ChangeRecord {
  readonly additions: number
  readonly deletions: number
  /** Keys `snapshots`, `diffs`, `files`, `diff`, `additions`, `deletions`; the derived ones only for UTF-8 text. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The record of a change; a file that stays as it is leaves no snapshot. */
export function recordChange(change: Change, sha256: NativeHost['effects']['sha256']): ChangeRecord {
  const before = stateOf(change.before, sha256)
  const after = stateOf(change.after, sha256)
  if (before.exists && before.sha256 === after.sha256) return { additions: 0, deletions: 0, metadata: { additions: 0, deletions: 0 } }
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

function stateOf(content: Uint8Array | undefined, sha256: NativeHost['effects']['sha256']): FileState {
  if (content === undefined) return { exists: false }
  const digest = sha256(content)
  if (content.length > KEPT_BYTES) return { exists: true, sha256: digest }
  return { exists: true, contentBase64: toBase64(content), sha256: digest }
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
