/** Markdown as lines of a terminal. Pure. */
import { lexer, type Token, type Tokens } from 'marked'
import { type Line, type Span, type Style, span, widthOf, wrap } from './span.js'

const MOST_COLUMNS = 100

/** The whole of a text. */
export function markdownLines(text: string, width: number): readonly Line[] {
  return blocks(lexer(text), Math.min(width, MOST_COLUMNS))
}

/** Where the blocks that nothing can change any more end: everything but the last one. */
export function settledLength(text: string): number {
  const tokens = lexer(text)
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  return tokens.slice(0, Math.max(0, last)).reduce((length, { raw }) => length + raw.length, 0)
}

function blocks(tokens: readonly Token[], width: number): readonly Line[] {
  return tokens.flatMap((token) => block(token as Tokens.Generic & Token, width))
}

function block(token: Token, width: number): readonly Line[] {
  switch (token.type) {
    case 'space':
      return [[]]
    case 'heading':
      return [...wrap(inline(token.tokens ?? [], ['bold']), width), ...blankAfter(token.raw)]
    case 'code':
      return [
        ...(token as Tokens.Code).text.split('\n').map((line): Line => [span(`  ${line.replaceAll('\t', '  ')}`, 'cyan')]),
        ...blankAfter(token.raw),
      ]
    case 'blockquote':
      return [...blocks(token.tokens ?? [], width - 2).map((line): Line => [span('│ ', 'dim'), ...line]), ...blankAfter(token.raw)]
    case 'list':
      return [...items(token as Tokens.List, width), ...blankAfter(token.raw)]
    case 'table':
      return [...table(token as Tokens.Table, width), ...blankAfter(token.raw)]
    case 'hr':
      return [[span('─'.repeat(Math.min(width, 40)), 'dim')], ...blankAfter(token.raw)]
    default:
      return wrap(inline('tokens' in token && token.tokens !== undefined ? token.tokens : [token], []), width)
  }
}

/** The lexer counts the blank line after some blocks to the block. */
function blankAfter(raw: string): readonly Line[] {
  return /\n[ \t]*\n$/.test(raw) ? [[]] : []
}

function items({ items: all, ordered, start }: Tokens.List, width: number): readonly Line[] {
  const first = typeof start === 'number' ? start : 1
  return all.flatMap((item, index) => {
    const box = item.task ? (item.checked === true ? '☑ ' : '☐ ') : ''
    const mark = ordered ? `${first + index}. ` : box === '' ? '• ' : box
    const lines = blocks(
      item.tokens.filter(({ type }) => type !== 'checkbox'),
      width - widthOf(mark),
    ).filter((line, at, list) => line.length > 0 || at < list.length - 1)
    return lines.map(
      (line, at): Line => [span(at === 0 ? mark : ' '.repeat(widthOf(mark)), ...(at === 0 ? (['dim'] as const) : [])), ...line],
    )
  })
}

/** In columns where it fits, one cell a line where it does not. */
function table({ header, rows }: Tokens.Table, width: number): readonly Line[] {
  const cells = [header, ...rows].map((row) => row.map(({ tokens }) => inline(tokens, [])))
  const widths = header.map((_, column) => Math.max(...cells.map((row) => lineWidth(row[column] ?? []))))
  const total = widths.reduce((sum, each) => sum + each + 2, -2)
  if (total > width) {
    const names = header.map(({ text }) => text)
    return cells
      .slice(1)
      .flatMap((row) => row.flatMap((cell, column) => wrap([span(`${names[column] ?? ''}: `, 'bold'), ...cell], width, 2)))
  }
  return cells.map((row, index) =>
    row.flatMap((cell, column): Span[] => {
      const padding = column === row.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - lineWidth(cell) + 2)
      return [...cell.map(({ text, styles = [] }) => span(text, ...styles, ...(index === 0 ? (['bold'] as const) : []))), span(padding)]
    }),
  )
}

function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0)
}

function inline(tokens: readonly Token[], styles: readonly Style[]): readonly Span[] {
  return tokens.flatMap((token): readonly Span[] => {
    switch (token.type) {
      case 'strong':
        return inline(token.tokens ?? [], [...styles, 'bold'])
      case 'em':
        return inline(token.tokens ?? [], [...styles, 'italic'])
      case 'del':
        return inline(token.tokens ?? [], [...styles, 'dim'])
      case 'codespan':
        return [span((token as Tokens.Codespan).text, ...styles, 'cyan')]
      case 'br':
        return [span('\n')]
      case 'link': {
        const { href, text, tokens: inside } = token as Tokens.Link
        const shown = inline(inside, [...styles, 'underline'])
        return href === text || href === `mailto:${text}` ? shown : [...shown, span(` (${href})`, ...styles, 'dim')]
      }
      case 'image':
        return [span(`[image: ${(token as Tokens.Image).text}] (${(token as Tokens.Image).href})`, ...styles, 'dim')]
      default:
        if ('tokens' in token && token.tokens !== undefined) return inline(token.tokens, styles)
        return [span('text' in token ? String(token.text) : token.raw, ...styles)]
    }
  })
}
