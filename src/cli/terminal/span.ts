/** Text with a style, in lines: what is shown to people, before it is cleaned and coloured (`src/cli/terminal/output.ts`). */
import stringWidth from 'string-width'
import { visibleText } from '../../protocol/text/visible-text.js'

export type Style = 'bold' | 'dim' | 'italic' | 'underline' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Span {
  readonly text: string
  readonly styles?: readonly Style[]
}

export type Line = readonly Span[]

export const span = (text: string, ...styles: readonly Style[]): Span => (styles.length === 0 ? { text } : { text, styles })

/**
 * Letters and marks of which each takes one column by itself: Latin, Greek, Cyrillic, punctuation, arrows, boxes, and what svc draws. Whatever else there is, is
 * left to a library, whose patterns for emoji take a megabyte once they are used.
 */
const PLAIN =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21ff\u2500-\u25fc\u2610-\u2612\u2713-\u2717\u2800-\u28ff]*$/

/** Columns that a terminal gives it, once it is cleaned: of what is cleaned away the library makes an error. */
export function widthOf(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(visibleText(text))
}

/** Lines of at most `width` columns, broken at spaces where there are some; those after the first begin with `indent` spaces. */
export function wrap(line: Line, width: number, indent = 0): readonly Line[] {
  const lines: Span[][] = [[]]
  let used = 0
  const room = Math.max(width, indent + 1)
  const breakLine = () => {
    lines.push(indent === 0 ? [] : [span(' '.repeat(indent))])
    used = indent
  }
  const put = (text: string, styles: Span['styles']) => {
    lines.at(-1)?.push(styles === undefined ? { text } : { text, styles })
    used += widthOf(text)
  }
  for (const { text, styles } of line) {
    for (const [index, hard] of text.split('\n').entries()) {
      if (index > 0) breakLine()
      for (const piece of hard.match(/\s+|\S+/g) ?? []) {
        if (used + widthOf(piece) <= room) put(piece, styles)
        else if (/^\s/.test(piece)) breakLine()
        else {
          if (used > indent) breakLine()
          for (const part of cut(piece, room - indent)) {
            if (used > indent) breakLine()
            put(part, styles)
          }
        }
      }
    }
  }
  return lines
}

/** A word in pieces that fit. */
function cut(word: string, room: number): readonly string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of word) {
    if (piece !== '' && widthOf(piece) + widthOf(character) > room) {
      pieces.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...pieces, piece]
}

/** The beginning of a text that fits into `room` columns, with `…` where something is left out. */
export function clip(text: string, room: number): string {
  return widthOf(text) <= room ? text : `${cut(text, Math.max(1, room - 1))[0] ?? ''}…`
}

/** The end of a text that fits into `room` columns, with `…` where something is left out. */
export function clipFront(text: string, room: number): string {
  if (widthOf(text) <= room) return text
  let kept = ''
  for (const character of [...text].toReversed()) {
    if (widthOf(kept) + widthOf(character) > room - 1) break
    kept = character + kept
  }
  return `…${kept}`
}
