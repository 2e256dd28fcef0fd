/**
 * Lines in, bytes out: what is done is printed once and is the terminal's from then on, and below it some lines live and are painted again
 * where they have changed. Pure but for what it remembers of the screen.
 *
 * I1 Nothing above the live lines is touched: the scrollback, a selection, and what a screen reader has read stay.
 * I2 A live line fills at most one row, so that their number is that of the rows.
 * I3 The cursor stands in the live lines: in that row it is found when they are painted again.
 */
import { type Line, widthOf } from '../../terminal/span.js'

export interface Frame {
  /** Printed now, and never again. */
  readonly done: readonly Line[]
  /** One at least, each of them within the columns. */
  readonly live: readonly Line[]
  readonly cursor: Place
}

export interface Place {
  readonly row: number
  readonly column: number
}

export interface Painter {
  paint(frame: Frame): string
  /** The terminal has these columns now, and has broken longer lines anew. */
  resize(columns: number): void
  /** Takes the live lines away; the cursor stands where they began. */
  leave(): string
}

/** A terminal that knows it shows all of it at once. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
const ERASE_ROW = '\u001b[2K'
const ERASE_BELOW = '\u001b[J'

/** `style`: a line as text with its colours, clean of whatever else a terminal would obey. */
export function createPainter(style: (line: Line) => string): Painter {
  /** Undefined: what stands there is not known. */
  let shown: readonly (string | undefined)[] = []
  let widths: readonly number[] = []
  let at: Place = { row: 0, column: 0 }

  // A tab is as wide as where it stands says.
  const styled = (line: Line) => style(line).replaceAll('\t', '  ')

  function whole(done: readonly Line[], live: readonly string[]): string {
    const above = done.map((line) => `${styled(line)}\r\n`).join('')
    return `${vertical(at.row, 0)}\r${ERASE_BELOW}${above}${live.join('\r\n')}`
  }

  /** The rows that differ; answers where the cursor is then, too. */
  function changed(live: readonly string[]): { readonly bytes: string; readonly row: number } {
    let bytes = ''
    let row = at.row
    for (const [index, text] of live.entries()) {
      if (index < shown.length) {
        if (shown[index] === text) continue
        bytes += `${vertical(row, index)}\r${ERASE_ROW}${text}`
      } else bytes += `${vertical(row, index - 1)}\r\n${text}`
      row = index
    }
    if (live.length >= shown.length) return { bytes, row }
    return { bytes: `${bytes}${vertical(row, live.length)}\r${ERASE_BELOW}`, row: live.length }
  }

  return {
    paint({ done, live, cursor }) {
      const texts = live.map(styled)
      const isSame = done.length === 0 && texts.length === shown.length && texts.every((text, index) => shown[index] === text)
      if (isSame && cursor.row === at.row && cursor.column === at.column) return ''
      const isWhole = done.length > 0 || shown.length === 0
      const { bytes, row } = isWhole ? { bytes: whole(done, texts), row: texts.length - 1 } : changed(texts)
      shown = texts
      widths = live.map((line) => line.reduce((sum, { text }) => sum + widthOf(text), 0))
      at = cursor
      return `${BEGIN}${bytes}${vertical(row, cursor.row)}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}${END}`
    },
    resize(columns) {
      const rows = widths.slice(0, at.row).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
      at = { row: rows, column: -1 }
      shown = []
    },
    leave() {
      const bytes = `${vertical(at.row, 0)}\r${ERASE_BELOW}`
      shown = []
      at = { row: 0, column: 0 }
      return bytes
    },
  }
}

function vertical(from: number, to: number): string {
  if (from === to) return ''
  return from > to ? `\u001b[${from - to}A` : `\u001b[${to - from}B`
}
