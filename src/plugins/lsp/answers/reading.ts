/** Turns what one server says into what the contract says: addresses into paths, its units into bytes (subsystems e.7). */
import { cut } from '../../../kernel/cut.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { LspRange } from '../../../protocol/lsp/lsp-records.js'
import { fromServer, linesOf, type PositionEncoding, type Place, type TextLines } from '../../../protocol/lsp/text-positions.js'
import { pathOfUri } from '../clients/addresses.js'
import type { RawRange } from '../clients/diagnostics.js'
import type { Documents } from '../clients/documents.js'

export interface Reading {
  /** Language of the document that was asked about. */
  readonly language: string
  /** Relative to the workspace when it is inside; an address that is no file stays as it is. */
  pathOf(uri: string): string
  displayed(path: string): string
  /** One-based; null when the text it refers to cannot be read. */
  rangeOf(uri: string, range: RawRange): Promise<LspRange | null>
  /** Zero-based. */
  bytesAt(uri: string, place: Place): Promise<Place | undefined>
}

export interface ReadingOptions {
  readonly files: NativeHost['effects']['files']
  readonly directory: string
  readonly language: string
  readonly encoding: PositionEncoding
  /** What the server was told; other files are read from disk. */
  readonly documents: Pick<Documents, 'get'> | undefined
}

export function createReading({ files, directory, language, encoding, documents }: ReadingOptions): Reading {
  const read = new Map<string, Promise<TextLines | undefined>>()

  function lines(path: string): Promise<TextLines | undefined> {
    const open = documents?.get(path)
    if (open !== undefined) return Promise.resolve(open.lines)
    const known = read.get(path)
    if (known !== undefined) return known
    if (read.size >= LIMITS.lsp.readFiles) return Promise.resolve(undefined)
    const work = files.read(path, LIMITS.lsp.documentBytes).then(
      (bytes) => linesOf(new TextDecoder().decode(bytes)),
      () => undefined,
    )
    read.set(path, work)
    return work
  }

  const displayed = (path: string) =>
    isWithin(directory, path) && path !== directory ? path.slice(directory === '/' ? 1 : directory.length + 1) : path

  async function bytesAt(uri: string, place: Place): Promise<Place | undefined> {
    const path = pathOfUri(uri)
    const text = path === undefined ? undefined : await lines(path)
    return text && fromServer(text, { line: Math.max(0, place.line), character: Math.max(0, place.character) }, encoding)
  }

  return {
    language,
    displayed,
    pathOf(uri) {
      const path = pathOfUri(uri)
      return path === undefined ? uri : displayed(path)
    },
    bytesAt,
    async rangeOf(uri, range) {
      const [start, end] = await Promise.all([bytesAt(uri, range.start), bytesAt(uri, range.end)])
      if (start === undefined || end === undefined) return null
      const fromOne = ({ line, character }: Place) => ({ line: line + 1, character: character + 1 })
      return { start: fromOne(start), end: fromOne(end) }
    },
  }
}

const CUT = '\n… (cut)'

/** Very long texts are cut, and say so. */
export function bounded(text: string): string {
  return cut(text, LIMITS.lsp.text, CUT)
}
