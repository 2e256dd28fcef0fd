/**
 * What ripgrep found, as far as a reading of our own finds it too (threat-model F1). Ripgrep opens whatever a name leads to at that moment, and
 * whoever may write in the tree can lead it elsewhere meanwhile.
 *
 * I1 Of a file that holds other lines than ripgrep read only what it holds itself is told, and whether there were others is told to nobody.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { joinPath } from '../../../protocol/text/paths.js'
import type { FoundFile, FoundLine, TextAnswer, Tree } from './search.js'

type Found = Extract<TextAnswer, { status: 'found' }>
type Files = Pick<NativeHost['effects']['files'], 'read' | 'readChunks'>

/** Files of at most this size are read in one go. */
const AT_ONCE = 256 * 1024
/** Ripgrep reads what begins with such a mark in its encoding. */
const ENCODED = 16 * 1024 * 1024
/** Bytes of a line: more than ripgrep's are read of. */
const LINE = 8 * 1024 * 1024
const NEWLINE = 0x0a
const LOST = '\uFFFD'

export interface Confirmation {
  readonly files: Files
  /** Searches one file of the tree by itself. */
  readonly searchAgain: (tree: Tree) => Promise<TextAnswer>
}

export async function confirmed({ files, searchAgain }: Confirmation, tree: Tree, found: Found): Promise<Found> {
  const kept: FoundFile[] = []
  let unnamed = 0
  for (const file of found.files) {
    tree.signal.throwIfAborted()
    if (file.path.includes(LOST)) unnamed++
    else if (await holds(files, tree, file)) kept.push(file)
    else kept.push(...filesOf(await searchAgain({ ...tree, file: file.path }))) // I1
  }
  if (unnamed === 0) return { ...found, files: kept }
  const left = `${unnamed} files whose names are no UTF-8 were left out`
  return { ...found, files: kept, incomplete: found.incomplete === undefined ? left : `${found.incomplete}; ${left}` }
}

const filesOf = (answer: TextAnswer): readonly FoundFile[] => (answer.status === 'found' ? answer.files : [])

async function holds(files: Files, tree: Tree, { path, lines }: FoundFile): Promise<boolean> {
  try {
    const held = await linesAt(files, joinPath(tree.root, path), new Set(lines.map(({ number }) => number)), tree.signal)
    return lines.every(({ number, text }: FoundLine) => bare(held.get(number) ?? '') === bare(text))
  } catch {
    tree.signal.throwIfAborted()
    return false
  }
}

/** Without what ends a line, and without a mark of the order of bytes. */
function bare(line: string): string {
  return line.replace(/^\uFEFF/, '').replace(/\r$/, '')
}

async function linesAt(files: Files, path: string, wanted: ReadonlySet<number>, signal: AbortSignal): Promise<ReadonlyMap<number, string>> {
  const collector = collect(wanted)
  const whole = await files.read(path, AT_ONCE, { canonical: true }).catch(() => undefined)
  if (whole !== undefined) collector.push(inUtf8(whole))
  else {
    let isFirst = true
    for await (const chunk of files.readChunks(path, signal, { canonical: true })) {
      if (isFirst && encodingOf(chunk) !== undefined) {
        collector.push(inUtf8(await files.read(path, ENCODED, { canonical: true })))
        break
      }
      isFirst = false
      if (!collector.push(chunk)) break
    }
  }
  return collector.finish()
}

function collect(wanted: ReadonlySet<number>) {
  const decoder = new TextDecoder()
  const last = Math.max(0, ...wanted)
  const found = new Map<number, string>()
  let pieces: Uint8Array[] = []
  let size = 0
  let number = 1
  const keep = (piece: Uint8Array) => {
    size += piece.length
    if (size <= LINE) pieces.push(piece)
  }
  const take = () => {
    if (wanted.has(number)) found.set(number, decoder.decode(Buffer.concat(pieces)))
    pieces = []
    size = 0
  }
  return {
    /** False once nothing more is needed. */
    push(chunk: Uint8Array): boolean {
      for (let at = 0; at < chunk.length && number <= last; ) {
        const end = chunk.indexOf(NEWLINE, at)
        if (wanted.has(number)) keep(chunk.slice(at, end === -1 ? undefined : end))
        if (end === -1) return true
        take()
        number++
        at = end + 1
      }
      return number <= last
    },
    finish(): ReadonlyMap<number, string> {
      take()
      return found
    },
  }
}

function inUtf8(bytes: Uint8Array): Uint8Array {
  const encoding = encodingOf(bytes)
  return encoding === undefined ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes))
}

function encodingOf([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}
