/** Edits of one property in JSONC text that leave every comment and every other character where it is. */
import { createScanner, findNodeAtLocation, type Node, parseTree, type SyntaxKind } from 'jsonc-parser'

const COMMA: SyntaxKind = 5
const TRIVIA: readonly SyntaxKind[] = [12, 13, 14, 15]
const LINE_BREAK: SyntaxKind = 14

/** Puts a value at a path of a valid document; all but the last segment must name existing objects. */
export function setProperty(text: string, path: readonly string[], value: unknown): string {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const parent = tree === undefined ? undefined : findNodeAtLocation(tree, path.slice(0, -1))
  const key = path.at(-1)
  if (tree === undefined || parent === undefined || key === undefined) return text
  const style = styleOf(text)
  const existing = findNodeAtLocation(tree, [...path])
  if (existing === undefined) return insert(text, parent, `${JSON.stringify(key)}: `, value)
  const rendered = render(value, style, indentAt(text, existing.offset))
  return text.slice(0, existing.offset) + rendered + text.slice(endOf(existing))
}

/** Removes the property at a path together with its comma, and its line when nothing else stands there. */
export function removeProperty(text: string, path: readonly string[]): string {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const property = tree === undefined ? undefined : findNodeAtLocation(tree, [...path])?.parent
  if (property === undefined) return text
  const siblings = property.parent?.children ?? []
  const before = siblings[siblings.indexOf(property) - 1]
  const after = commaFrom(text, endOf(property))
  const leading = after === undefined && before !== undefined ? commaFrom(text, endOf(before)) : undefined
  const tail = after === undefined ? text.slice(endOf(property)) : text.slice(endOf(property), after) + text.slice(after + 1)
  const head = leading === undefined ? text.slice(0, property.offset) : text.slice(0, leading) + text.slice(leading + 1, property.offset)
  const lineStart = head.lastIndexOf('\n') + 1
  const blankTail = /^[ \t]*\r?\n/.exec(tail)?.[0]
  if (lineStart > 0 && head.slice(lineStart).trim() === '' && blankTail !== undefined)
    return head.slice(0, lineStart) + tail.slice(blankTail.length)
  return head + tail.replace(/^[ \t]+(?=\S)/, '')
}

/** Puts the whole root object under one key of a new root. */
export function wrapRoot(text: string, key: string): string {
  const root = parseTree(text, [], { allowTrailingComma: true })
  if (root === undefined) return text
  const { unit, eol } = styleOf(text)
  const inner = text.slice(root.offset, endOf(root)).replaceAll('\n', `\n${unit}`)
  return `${text.slice(0, root.offset)}{${eol}${unit}${JSON.stringify(key)}: ${inner}${eol}}${text.slice(endOf(root))}`
}

/** Leading white space of the first indented line, and the line ending. */
function styleOf(text: string): { readonly unit: string; readonly eol: string } {
  return { unit: /(?<=^|\n)(\t| {1,8})(?=\S)/.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

function insert(text: string, parent: Node, label: string, value: unknown): string {
  const style = styleOf(text)
  const close = endOf(parent) - 1
  const outer = indentAt(text, parent.offset)
  const indent = outer + style.unit
  const property = label + render(value, style, indent)
  const last = parent.children?.at(-1)
  if (last === undefined) {
    const inner = text.slice(parent.offset + 1, close).trimEnd()
    return `${text.slice(0, parent.offset + 1)}${inner}${style.eol}${indent}${property}${style.eol}${outer}${text.slice(close)}`
  }
  const comma = commaFrom(text, endOf(last))
  const withComma = comma === undefined ? `${text.slice(0, endOf(last))},${text.slice(endOf(last))}` : text
  const from = comma === undefined ? endOf(last) + 1 : comma + 1
  const trailing = comma === undefined ? '' : ','
  if (!text.slice(parent.offset, close).includes('\n')) {
    const inline = label + render(value, style, '').replaceAll(/\s*\n\s*/g, ' ')
    return `${withComma.slice(0, from)} ${inline}${trailing}${withComma.slice(from)}`
  }
  const at = endOfLineFrom(withComma, from)
  const rest = withComma.slice(at).replace(/^[ \t]*(?=\})/, style.eol + outer)
  return `${withComma.slice(0, at)}${style.eol}${indent}${property}${trailing}${rest}`
}

/** Offset of the next comma when only blanks and comments come before it. */
function commaFrom(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, false)
  scanner.setPosition(offset)
  let token = scanner.scan()
  while (TRIVIA.includes(token)) token = scanner.scan()
  return token === COMMA ? scanner.getTokenOffset() : undefined
}

/** Past the blanks and comments that follow on the same line. */
function endOfLineFrom(text: string, offset: number): number {
  const scanner = createScanner(text, false)
  scanner.setPosition(offset)
  let end = offset
  for (let token = scanner.scan(); TRIVIA.includes(token) && token !== LINE_BREAK; token = scanner.scan()) {
    if (scanner.getTokenLength() > 0 && text.slice(scanner.getTokenOffset(), scanner.getPosition()).trim() !== '')
      end = scanner.getPosition()
  }
  return end
}

function render(value: unknown, style: { readonly unit: string; readonly eol: string }, indent: string): string {
  return JSON.stringify(value, null, style.unit).replaceAll('\n', style.eol + indent)
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function endOf(node: Node): number {
  return node.offset + node.length
}
