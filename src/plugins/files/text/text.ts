/**
 * Text files as they are edited: BOM and line endings are set aside and come back unchanged (sessions-events §10.8).
 *
 * Edits are found in text with `\n` only and applied to the text as it is stored, so that everything outside the
 * replaced spans keeps its bytes, also in files with mixed line endings.
 */
const BOM = '\uFEFF'
const BOM_BYTES = [0xef, 0xbb, 0xbf] as const

export interface TextFile {
  readonly bom: boolean
  /** As stored, without the BOM. */
  readonly stored: string
  /** `stored` with `\r\n` as `\n`. */
  readonly text: string
  /** What most lines end with. */
  readonly ending: '\n' | '\r\n'
}

export type Decoded = { readonly status: 'text'; readonly file: TextFile } | { readonly status: 'binary' } | { readonly status: 'not-utf8' }

export function decodeText(bytes: Uint8Array): Decoded {
  if (bytes.includes(0)) return { status: 'binary' }
  const bom = BOM_BYTES.every((byte, index) => bytes[index] === byte)
  let stored: string
  try {
    stored = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bom ? bytes.subarray(BOM_BYTES.length) : bytes)
  } catch {
    return { status: 'not-utf8' }
  }
  return { status: 'text', file: textFile(stored, bom) }
}

export function encodeText(file: TextFile, stored: string): string {
  return file.bom ? BOM + stored : stored
}

/** Whole new content in the style of the file it replaces: its BOM, and `\r\n` when all its lines end so and none of the new ones do. */
export function inStyleOf(file: TextFile, content: string): string {
  const bare = content.startsWith(BOM) ? content.slice(BOM.length) : content
  const foreign = file.ending === '\r\n' && !/(^|[^\r])\n/.test(file.stored) && !bare.includes('\r\n')
  const ended = foreign ? bare.replaceAll('\n', '\r\n') : bare
  return file.bom || bare !== content ? BOM + ended : ended
}

/** Replaces spans of `file.text` (ascending, disjoint, all of `length`) by `replacement`; answers the new stored text. */
export function replaceSpans(file: TextFile, starts: readonly number[], length: number, replacement: string): string {
  const inserted = file.ending === '\r\n' ? replacement.replaceAll('\n', '\r\n') : replacement
  const offsets = storedOffsets(file)
  let result = ''
  let done = 0
  for (const start of starts) {
    result += file.stored.slice(done, offsets(start)) + inserted
    done = offsets(start + length)
  }
  return result + file.stored.slice(done)
}

export function normaliseEndings(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
}

function textFile(stored: string, bom: boolean): TextFile {
  const text = normaliseEndings(stored)
  const carriageReturns = stored.length - text.length
  if (carriageReturns === 0) return { bom, stored, text, ending: '\n' }
  return { bom, stored, text, ending: carriageReturns * 2 > countNewlines(text) ? '\r\n' : '\n' }
}

function countNewlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Maps ascending offsets of `text` to offsets of `stored`; must be called with ascending arguments. */
function storedOffsets(file: TextFile): (offset: number) => number {
  if (file.stored.length === file.text.length) return (offset) => offset
  let skipped = 0
  let next = file.stored.indexOf('\r\n')
  return (offset) => {
    while (next !== -1 && next - skipped < offset) {
      skipped++
      next = file.stored.indexOf('\r\n', next + 2)
    }
    return offset + skipped
  }
}
