/**
 * The text of a patch as files and chunks (sessions-events §10.9): `*** Begin Patch`, any number of `*** Add File:`, `*** Delete File:` and
 * `*** Update File:` with `@@` chunks, `*** End Patch`.
 */
import { hasControls } from '../../../protocol/text/path-text.js'

interface PatchLine {
  readonly kind: 'keep' | 'remove' | 'add'
  readonly text: string
}

export interface Chunk {
  /** The chunk stands after a line with this text. */
  readonly context: string | undefined
  readonly lines: readonly PatchLine[]
  /** It ends with the file. */
  readonly isAtEnd: boolean
  /** Of the patch, where it begins, 1-based. */
  readonly line: number
}

export type FilePatchText =
  | { readonly type: 'add'; readonly path: string; readonly content: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly moveTo: string | undefined; readonly chunks: readonly Chunk[] }

/** Says where a patch cannot be read. */
export class PatchTextError extends Error {}

const HEADER = /^\*\*\* (Add|Delete|Update) File: ?(.*)$/
const MOVE = /^\*\*\* Move to: ?(.*)$/
const CONTROLS = 'the name of the file contains a control character'
const AT_END = '*** End of File'
const KINDS: Readonly<Record<string, PatchLine['kind']>> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/** Throws `PatchTextError` with the line that is wrong. */
export function readPatch(patchText: string): readonly FilePatchText[] {
  const lines = patchText.trim().split(/\r?\n/)
  if (lines[0]?.trim() !== '*** Begin Patch') {
    const isUnified = /(?<=^|\n)(?:diff --git |--- |Index: )/.test(patchText)
    throw fault(
      1,
      isUnified ? 'a unified diff is not taken: the patch begins with "*** Begin Patch"' : 'the patch begins with "*** Begin Patch"',
    )
  }
  if (lines.at(-1)?.trim() !== '*** End Patch') throw fault(lines.length, 'the patch ends with "*** End Patch"')
  const files: FilePatchText[] = []
  const end = lines.length - 1
  for (let at = 1; at < end; ) {
    const line = lines[at] ?? ''
    const [, action, name = ''] = HEADER.exec(line) ?? []
    if (action === undefined) {
      if (line.trim() === '') {
        at++
        continue
      }
      throw fault(
        at + 1,
        `"*** Add File: ", "*** Delete File: " or "*** Update File: " is expected, not ${JSON.stringify(line.slice(0, 80))}`,
      )
    }
    const path = name.trim()
    if (hasControls(path)) throw fault(at + 1, CONTROLS)
    if (path === '') throw fault(at + 1, 'the name of the file is missing')
    const next = nextHeader(lines, at + 1, end)
    const body = { lines: lines.slice(at + 1, next), first: at + 2 }
    files.push(action === 'Add' ? added(path, body) : action === 'Delete' ? deleted(path, body) : updated(path, body))
    at = next
  }
  if (files.length === 0) throw fault(1, 'the patch changes nothing')
  return files
}

interface Body {
  readonly lines: readonly string[]
  /** Number of its first line in the patch. */
  readonly first: number
}

function nextHeader(lines: readonly string[], from: number, end: number): number {
  for (let at = from; at < end; at++) if (HEADER.test(lines[at] ?? '')) return at
  return end
}

function added(path: string, { lines, first }: Body): FilePatchText {
  const wrong = lines.findIndex((line) => !line.startsWith('+'))
  // Blank lines between two files belong to neither.
  if (wrong !== -1 && lines.slice(wrong).some((line) => line.trim() !== ''))
    throw fault(first + wrong, 'every line of an added file begins with "+"')
  const content = (wrong === -1 ? lines : lines.slice(0, wrong)).map((line) => `${line.slice(1)}\n`).join('')
  return { type: 'add', path, content }
}

function deleted(path: string, { lines, first }: Body): FilePatchText {
  const stray = lines.findIndex((line) => line.trim() !== '')
  if (stray !== -1) throw fault(first + stray, 'nothing stands below "*** Delete File: "')
  return { type: 'delete', path }
}

function updated(path: string, { lines: all, first }: Body): FilePatchText {
  // Blank lines before the next file belong to neither: a blank line of a chunk has its space.
  const lines = all.slice(0, all.findLastIndex((line) => line !== '') + 1)
  const moveTo = MOVE.exec(lines[0] ?? '')?.[1]?.trim()
  if (moveTo !== undefined && hasControls(moveTo)) throw fault(first, CONTROLS)
  if (moveTo === '') throw fault(first, 'the new name of the file is missing')
  const chunks: { context: string | undefined; lines: PatchLine[]; isAtEnd: boolean; line: number }[] = []
  for (let at = moveTo === undefined ? 0 : 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const open = chunks.at(-1)
    if (line.startsWith('@@')) {
      const context = line
        .slice(2)
        .replace(/@@\s*$/, '')
        .replace(/^ /, '')
      chunks.push({ context: context.trim() === '' ? undefined : context, lines: [], isAtEnd: false, line: first + at })
    } else if (line === AT_END) {
      if (open === undefined) throw fault(first + at, `"${AT_END}" ends a chunk, and none has begun`)
      open.isAtEnd = true
    } else {
      const kind = line === '' ? 'keep' : KINDS[line[0] ?? '']
      if (kind === undefined) throw fault(first + at, 'a line of a chunk begins with " ", "-" or "+", and a chunk with "@@"')
      if (open?.isAtEnd === true && line !== '') throw fault(first + at, `after "${AT_END}" another chunk begins with "@@"`)
      const chunk = open ?? { context: undefined, lines: [], isAtEnd: false, line: first + at }
      if (open === undefined) chunks.push(chunk)
      if (!chunk.isAtEnd) chunk.lines.push({ kind, text: line.slice(1) })
    }
  }
  const empty = chunks.find((chunk) => chunk.lines.every(({ kind }) => kind === 'keep'))
  if (empty !== undefined) throw fault(empty.line, 'the chunk changes nothing')
  if (chunks.length === 0 && moveTo === undefined) throw fault(first - 1, 'nothing is changed in the file')
  return { type: 'update', path, moveTo, chunks }
}

function fault(line: number, problem: string): PatchTextError {
  return new PatchTextError(`The patch cannot be read: line ${line}: ${problem}.`)
}
