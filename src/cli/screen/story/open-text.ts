/**
 * A text that is being written: its whole blocks are done, the last one is still open. Pure.
 *
 * I1 What is done is never shown again, and nothing is left out between it and what is open.
 * I2 An open block that has become too high is cut: its head is done, and the rest goes on as what it was.
 */
import { markdownLines, settledLength } from '../../terminal/markdown.js'
import type { Line } from '../../terminal/span.js'

export interface OpenText {
  /** What is not done yet. */
  readonly rest: string
  /** Of the whole text, in characters. */
  readonly length: number
  /** Something of it is done. */
  readonly isBegun: boolean
  /** The rest goes on in the middle of a block (I2). */
  readonly isCut: boolean
}

export interface Piece {
  readonly text: string
  /** It goes on where what was done before has ended: no blank line between. */
  readonly isGlued: boolean
}

interface Taken {
  readonly open: OpenText
  readonly done: readonly Piece[]
}

export const NOTHING: OpenText = { rest: '', length: 0, isBegun: false, isCut: false }

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n/
const TABLE = /^[^\n]*\|[^\n]*\n[ \t]*\|?[ \t:|-]+\n/

export function more(open: OpenText, added: string): OpenText {
  return { ...open, rest: open.rest + added, length: open.length + added.length }
}

/** What can be shown for good, at most `height` rows being left. */
export function take(open: OpenText, width: number, height: number): Taken {
  const length = open.rest.includes('\n') ? settledLength(open.rest) : 0
  const done = length > 0 ? [{ text: open.rest.slice(0, length), isGlued: open.isCut }] : []
  const kept = length > 0 ? { ...open, rest: open.rest.slice(length), isBegun: true, isCut: false } : open
  if (blockLines(kept.rest, width).length <= height) return { open: kept, done }
  const cut = cutOf(kept.rest, width, height)
  if (cut === undefined) return { open: kept, done }
  return {
    open: { ...kept, rest: cut.rest, isBegun: true, isCut: true },
    done: [...done, { text: cut.head, isGlued: kept.isCut }],
  }
}

/** All of it. */
export function takeAll(open: OpenText): readonly Piece[] {
  return open.rest.trim() === '' ? [] : [{ text: open.rest, isGlued: open.isCut }]
}

/** Without the blank lines around it. */
export function blockLines(text: string, width: number): readonly Line[] {
  const lines = markdownLines(text, width)
  const first = lines.findIndex((line) => line.length > 0)
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.length > 0) + 1)
}

/** I2. Leaves about half of the height open. */
function cutOf(text: string, width: number, height: number): { readonly head: string; readonly rest: string } | undefined {
  const wanted = Math.floor(text.length * (1 - height / 2 / Math.max(1, blockLines(text, width).length)))
  const [head = ''] = FENCE.exec(text) ?? TABLE.exec(text) ?? []
  const isFence = FENCE.test(text)
  const line = text.lastIndexOf('\n', wanted) + 1
  if (line > head.length) {
    const before = text.slice(0, line)
    return { head: isFence ? `${before}${fenceOf(text)}\n` : before, rest: `${head}${text.slice(line)}` }
  }
  // One long line: between two words.
  const word = head === '' ? text.lastIndexOf(' ', wanted) + 1 : 0
  return word > 0 ? { head: text.slice(0, word), rest: text.slice(word) } : undefined
}

function fenceOf(text: string): string {
  return FENCE.exec(text)?.[1] ?? ''
}
