/** Places in a text: bytes of UTF-8 on our side, units of the negotiated encoding on the side of a server (subsystems e.7). */
export type PositionEncoding = 'utf-8' | 'utf-16' | 'utf-32'

/** Zero-based. */
export interface Place {
  readonly line: number
  readonly character: number
}

/** A text and where its lines begin; LF, CRLF and a lone CR end one. */
export interface TextLines {
  readonly text: string
  readonly starts: Uint32Array
}

const LF = 10
const CR = 13

export function linesOf(text: string): TextLines {
  const starts = [0]
  const next = (character: string, from: number) => {
    const at = text.indexOf(character, from)
    return at === -1 ? text.length : at
  }
  let feed = next('\n', 0)
  let back = next('\r', 0)
  while (feed < text.length || back < text.length) {
    if (back < feed) {
      const isPair = feed === back + 1
      starts.push(isPair ? feed + 1 : back + 1)
      if (isPair) feed = next('\n', feed + 1)
      back = next('\r', back + 1)
    } else {
      starts.push(feed + 1)
      feed = next('\n', feed + 1)
    }
  }
  return { text, starts: Uint32Array.from(starts) }
}

/** The last place of a text, in units of `encoding`. */
export function endOf(lines: TextLines, encoding: PositionEncoding): Place {
  const line = lines.starts.length - 1
  return { line, character: unitsOf(lineText(lines, line), encoding) }
}

/** From bytes to units; what lies in a character or behind a line is moved back to its beginning or end. */
export function toServer(lines: TextLines, { line, character }: Place, encoding: PositionEncoding): Place {
  const last = lines.starts.length - 1
  if (line > last) return endOf(lines, encoding)
  return { line, character: convert(lineText(lines, line), character, 'utf-8', encoding) }
}

/** From units to bytes, zero-based. */
export function fromServer(lines: TextLines, { line, character }: Place, encoding: PositionEncoding): Place {
  const last = lines.starts.length - 1
  if (line > last) return endOf(lines, 'utf-8')
  return { line, character: convert(lineText(lines, line), character, encoding, 'utf-8') }
}

function lineText({ text, starts }: TextLines, line: number): string {
  const start = starts[line] ?? text.length
  let end = starts[line + 1] ?? text.length
  if (end > start && line + 1 < starts.length) {
    if (text.charCodeAt(end - 1) === LF) end--
    if (end > start && text.charCodeAt(end - 1) === CR) end--
  }
  return text.slice(start, end)
}

function convert(line: string, column: number, from: PositionEncoding, to: PositionEncoding): number {
  if (isPlain(line)) return Math.min(column, line.length)
  let read = 0
  let made = 0
  for (const character of line) {
    read += unitsOf(character, from)
    if (read > column) return made
    made += unitsOf(character, to)
  }
  return made
}

const isPlain = (text: string) => !/[^\0-\x7f]/.test(text)

const encoder = new TextEncoder()

function unitsOf(text: string, encoding: PositionEncoding): number {
  if (encoding === 'utf-16') return text.length
  if (text.length === 1 && text.charCodeAt(0) < 0x80) return 1
  if (encoding === 'utf-8') return encoder.encode(text).length
  return [...text].length
}
