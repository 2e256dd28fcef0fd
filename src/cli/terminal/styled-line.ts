/** A styled line as the text that a terminal shows. Pure. */
import { visibleText } from '../../protocol/text/visible-text.js'
import type { Line, Span, Style } from './span.js'

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, italic: 3, underline: 4, red: 31, green: 32, yellow: 33, cyan: 36 }
const RESET = '\u001b[0m'

/** Cleaned: nothing in it is obeyed but our styles. */
export function styledLine(line: Line, isColoured: boolean): string {
  return joined(line)
    .map(({ text, styles = [] }) => styledText(visibleText(text).replaceAll('\n', ' '), styles, isColoured))
    .join('')
}

/** Neighbours of the same style as one: a line that was wrapped is in words. */
function joined(line: Line): Line {
  const all: Span[] = []
  for (const { text, styles } of line) {
    const last = all.at(-1)
    if (last !== undefined && (last.styles ?? []).join() === (styles ?? []).join())
      all[all.length - 1] = { ...last, text: last.text + text }
    else all.push(styles === undefined ? { text } : { text, styles })
  }
  return all
}

/** `text` is clean already. */
export function styledText(text: string, styles: readonly Style[], isColoured: boolean): string {
  if (text === '' || styles.length === 0 || !isColoured) return text
  return `\u001b[${styles.map((style) => CODES[style]).join(';')}m${text}${RESET}`
}
