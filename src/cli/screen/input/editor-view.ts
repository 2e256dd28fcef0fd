/** What is typed, as rows of the screen with a place for the cursor. Pure. */
import { type Line, span, widthOf } from '../../terminal/span.js'
import type { Place } from '../paint/painter.js'
import type { Editor } from './editor.js'

const MARK = '› '
const INDENT = '  '

/** At most `most` rows, those around the cursor. */
export function editorRows(editor: Editor, columns: number, most: number): { readonly lines: readonly Line[]; readonly cursor: Place } {
  const { draft, search } = editor
  const room = Math.max(1, columns - MARK.length - 1)
  const rows: string[] = ['']
  let width = 0
  let cursor: Place = { row: 0, column: 0 }
  let offset = 0
  const note = () => {
    if (offset === draft.cursor) cursor = { row: rows.length - 1, column: width }
  }
  for (const character of draft.text) {
    note()
    offset += character.length
    if (character === '\n') {
      rows.push('')
      width = 0
      continue
    }
    const wide = widthOf(character)
    if (width + wide > room) {
      rows.push('')
      width = 0
      if (offset - character.length === draft.cursor) cursor = { row: rows.length - 1, column: 0 }
    }
    rows[rows.length - 1] += character
    width += wide
  }
  note()
  const first = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most))
  const shown = rows.slice(first, first + most)
  const lines = shown.map((text, index): Line => [mark(first + index, first, index, shown.length, rows.length), span(text)])
  const place = { row: cursor.row - first, column: cursor.column + MARK.length }
  if (search === undefined) return { lines, cursor: place }
  return {
    lines: [...lines, [span(`  search: ${search.query}  (Ctrl-R older, Enter takes it, Esc leaves)`.slice(0, columns - 1), 'dim')]],
    cursor: place,
  }
}

/** `…` where something is above or below. */
function mark(row: number, first: number, index: number, shown: number, all: number): Line[number] {
  if (row === 0) return span(MARK, 'cyan')
  const hasMore = (index === 0 && first > 0) || (index === shown - 1 && first + shown < all)
  return hasMore ? span('… ', 'dim') : span(INDENT)
}
