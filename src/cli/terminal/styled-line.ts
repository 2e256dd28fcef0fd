/** A styled line as the text that a terminal shows. Pure. */
import { visibleText } from '../../protocol/text/visible-text.js'
import type { Line, Style } from './span.js'

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, italic: 3, underline: 4, red: 31, green: 32, yellow: 33, cyan: 36 }
const RESET = '\u001b[0m'

/** Cleaned: nothing in it is obeyed but our styles. */
export function styledLine(line: Line, isColoured: boolean): string {
  return line.map(({ text, styles = [] }) => styledText(visibleText(text).replaceAll('\n', ' '), styles, isColoured)).join('')
}

/** `text` is clean already. */
export function styledText(text: string, styles: readonly Style[], isColoured: boolean): string {
  if (text === '' || styles.length === 0 || !isColoured) return text
  return `\u001b[${styles.map((style) => CODES[style]).join(';')}m${text}${RESET}`
}
