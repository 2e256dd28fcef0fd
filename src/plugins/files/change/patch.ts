/** Unified patches of one file, computed within bounds of time and size. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatch, type StructuredPatchHunk } from 'diff'

const CONTEXT = 3
const TIMEOUT_MS = 40
const MAX_EDITS = 2000
/** Longest patch that is kept, in characters. */
const MAX_LENGTH = 50 * 1024

export interface FilePatch {
  /** Absent when the patch would be longer than 50 KiB. */
  readonly patch?: string
  readonly additions: number
  readonly deletions: number
  /** First changed line before and after, 1-based. */
  readonly oldStart: number
  readonly newStart: number
}

/** The patch from `before` to `after`; undefined stands for a file that is not there. Only the lines that differ are compared, however long the file. */
export function createPatch(path: string, before: string | undefined, after: string | undefined): FilePatch {
  const old = before ?? ''
  const now = after ?? ''
  const window = changedWindow(old, now)
  const oldPart = old.slice(window.start, window.oldEnd)
  const newPart = now.slice(window.start, window.newEnd)
  const options = { context: CONTEXT, timeout: TIMEOUT_MS, maxEditLength: MAX_EDITS }
  const compared = old !== '' && now !== ''
  const computed = compared ? structuredPatch(path, path, oldPart, newPart, undefined, undefined, options) : undefined
  const hunks = (computed?.hunks ?? [wholeHunk(oldPart, newPart)]).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + window.lines,
    newStart: hunk.newStart + window.lines,
  }))
  const structured: StructuredPatch = {
    oldFileName: before === undefined ? '/dev/null' : path,
    newFileName: after === undefined ? '/dev/null' : path,
    oldHeader: undefined,
    newHeader: undefined,
    hunks,
  }
  const patch = formatPatch(structured, FILE_HEADERS_ONLY)
  return {
    ...(patch.length <= MAX_LENGTH && { patch }),
    additions: countLines(hunks, '+'),
    deletions: countLines(hunks, '-'),
    ...firstChange(hunks[0]),
  }
}

/** The stretch in which two texts differ, with enough lines around it for the context of a patch. */
function changedWindow(old: string, now: string): { start: number; lines: number; oldEnd: number; newEnd: number } {
  const shorter = Math.min(old.length, now.length)
  let same = 0
  while (same < shorter && old.charCodeAt(same) === now.charCodeAt(same)) same++
  let tail = 0
  while (tail < shorter - same && old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail++
  let start = old.lastIndexOf('\n', same - 1) + 1
  for (let line = 0; line < CONTEXT && start > 0; line++) start = start === 1 ? 0 : old.lastIndexOf('\n', start - 2) + 1
  let oldEnd = lineEndAfter(old, old.length - tail)
  for (let line = 0; line < CONTEXT; line++) oldEnd = lineEndAfter(old, oldEnd)
  return { start, lines: countNewlines(old, start), oldEnd, newEnd: now.length - (old.length - oldEnd) }
}

function lineEndAfter(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end === -1 ? text.length : end + 1
}

function countNewlines(text: string, before: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < before; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Everything out, everything in: what is left when a comparison takes too long. */
function wholeHunk(old: string, now: string): StructuredPatchHunk {
  const removed = markLines('-', old)
  const added = markLines('+', now)
  const lines = [...removed.lines, ...added.lines]
  return { oldStart: 1, oldLines: removed.count, newStart: 1, newLines: added.count, lines }
}

function markLines(mark: string, text: string): { readonly lines: string[]; readonly count: number } {
  if (text === '') return { lines: [], count: 0 }
  const closed = text.endsWith('\n')
  const lines = (closed ? text.slice(0, -1) : text).split('\n').map((line) => mark + line)
  const count = lines.length
  if (!closed) lines.push('\\ No newline at end of file')
  return { lines, count }
}

function countLines(hunks: readonly StructuredPatchHunk[], mark: string): number {
  return hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(mark)).length, 0)
}

function firstChange(hunk: StructuredPatchHunk | undefined): { oldStart: number; newStart: number } {
  if (hunk === undefined) return { oldStart: 1, newStart: 1 }
  const unchanged = Math.max(
    0,
    hunk.lines.findIndex((line) => !line.startsWith(' ')),
  )
  return { oldStart: hunk.oldStart + unchanged, newStart: hunk.newStart + unchanged }
}
