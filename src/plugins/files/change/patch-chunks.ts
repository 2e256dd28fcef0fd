/** Where the chunks of a patch belong in a text, and what becomes of it (sessions-events §10.9). Untouched lines keep their bytes. */
import type { Chunk } from './patch-text.js'
import { encodeText, type TextFile } from '../text/text.js'

/** Says which chunk does not fit. */
export class ChunkError extends Error {}

/** A line and what ends it. */
interface Line {
  readonly text: string
  readonly end: string
}

interface Replacement {
  readonly start: number
  readonly end: number
  readonly lines: readonly Line[]
}

type Same = (line: string, wanted: string) => boolean
const exactly: Same = (line, wanted) => line === wanted
const butForIndent: Same = (line, wanted) => line.trimStart() === wanted.trimStart()

/** The whole new content, with the byte order mark of the old. Throws `ChunkError`. */
export function applyChunks(file: TextFile, chunks: readonly Chunk[]): string {
  const lines = linesOf(file.stored)
  const replacements: Replacement[] = []
  let cursor = 0
  for (const chunk of chunks) {
    const replacement = locate(lines, chunk, cursor, file.ending)
    if (replacements.some((other) => replacement.start < other.end && other.start < replacement.end))
      throw new ChunkError(`${placeOf(chunk)} changes lines that another chunk changes.`)
    replacements.push(replacement)
    cursor = replacement.end
  }
  return encodeText(file, assembled(file, lines, replacements))
}

function linesOf(stored: string): Line[] {
  return [...stored.matchAll(/([^\n]*?)(\r?\n)|([^\n]+)$/g)].map(([, text, end, last]) => ({ text: text ?? last ?? '', end: end ?? '' }))
}

function locate(lines: readonly Line[], chunk: Chunk, cursor: number, ending: string): Replacement {
  const from = chunk.context === undefined ? cursor : afterContext(lines, chunk, chunk.context, cursor)
  const old = chunk.lines.flatMap(({ kind, text }) => (kind === 'add' ? [] : [text]))
  const start = old.length === 0 ? (chunk.isAtEnd ? lines.length : from) : find(lines, old, from, chunk.isAtEnd)
  if (start === undefined) {
    const first = old.find((text) => text.trim() !== '') ?? ''
    throw new ChunkError(
      `${placeOf(chunk)} does not fit: its lines, from ${JSON.stringify(first.slice(0, 80))} on, are not in the file as it is now.`,
    )
  }
  let at = start
  const made = chunk.lines.flatMap(({ kind, text }): Line[] => {
    if (kind === 'add') return [{ text, end: ending }]
    const line = lines[at++]
    return kind === 'keep' && line !== undefined ? [line] : []
  })
  return { start, end: start + old.length, lines: made }
}

function afterContext(lines: readonly Line[], chunk: Chunk, context: string, cursor: number): number {
  for (const same of [exactly, (line: string, wanted: string) => line.trim() === wanted.trim()]) {
    for (const from of [cursor, 0]) {
      const at = lines.findIndex(({ text }, index) => index >= from && same(text, context))
      if (at !== -1) return at + 1
    }
  }
  throw new ChunkError(`${placeOf(chunk)} does not fit: there is no line ${JSON.stringify(context.slice(0, 80))}.`)
}

/** From the cursor, from the top, and the same without regard to indentation; a chunk at the end of the file is looked for there first. */
function find(lines: readonly Line[], old: readonly string[], cursor: number, isAtEnd: boolean): number | undefined {
  const last = lines.length - old.length
  const fits = (same: Same) => (start: number) => old.every((wanted, index) => same(lines[start + index]?.text ?? '', wanted))
  for (const same of [exactly, butForIndent]) {
    const isHere = fits(same)
    if (isAtEnd && last >= 0 && isHere(last)) return last
    for (const from of [cursor, 0]) for (let start = from; start <= last; start++) if (isHere(start)) return start
  }
  return undefined
}

function assembled(file: TextFile, lines: readonly Line[], replacements: readonly Replacement[]): string {
  const result: Line[] = []
  let done = 0
  for (const { start, end, lines: made } of replacements.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result.push(...lines.slice(done, start), ...made)
    done = end
  }
  result.push(...lines.slice(done))
  const isOpen = lines.at(-1)?.end === ''
  return result.map(({ text, end }, index) => text + (index === result.length - 1 ? (isOpen ? '' : end) : end || file.ending)).join('')
}

function placeOf({ line }: Chunk): string {
  return `The chunk at line ${line} of the patch`
}
