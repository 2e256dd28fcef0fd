/**
 * What one running server was told of files (subsystems e.5). Versions begin at zero with each start.
 *
 * I1 A change is told once: the same text again is nothing. A change replaces the whole text.
 * I2 What is open is bounded in number and size; what was used longest ago is closed.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { endOf, linesOf, type TextLines } from '../../../protocol/lsp/text-positions.js'
import { fileUri } from './addresses.js'
import type { Program } from '../link/connection.js'
import type { ServerTraits } from '../link/handshake.js'

export interface OpenDocument {
  readonly path: string
  readonly uri: string
  readonly languageId: string
  readonly version: number
  readonly lines: TextLines
  /** Identity of the file on disk that holds this text; undefined = it came with a question. */
  readonly identity: string | undefined
}

export interface Documents {
  /** Rejects when the file cannot be read or is too large. `text` stands for what is on disk. */
  sync(path: string, languageId: string, text?: string): Promise<OpenDocument>
  /** Told as saved, if the server wants to know. */
  saved(document: OpenDocument): void
  get(path: string): OpenDocument | undefined
}

export function createDocuments(files: NativeHost['effects']['files'], program: Pick<Program, 'notify'>, traits: ServerTraits): Documents {
  const open = new Map<string, OpenDocument>()

  function keep(document: OpenDocument): OpenDocument {
    open.delete(document.path)
    open.set(document.path, document)
    let size = 0
    for (const { lines } of open.values()) size += lines.text.length
    for (const oldest of open.values()) {
      if ((open.size <= LIMITS.lsp.openDocuments && size <= LIMITS.lsp.openBytes) || oldest === document) break
      open.delete(oldest.path)
      size -= oldest.lines.text.length
      if (traits.openClose) program.notify('textDocument/didClose', { textDocument: { uri: oldest.uri } })
    }
    return document
  }

  function tell(path: string, languageId: string, text: string, identity: string | undefined): OpenDocument {
    const known = open.get(path)
    if (known !== undefined && known.lines.text === text) return keep({ ...known, identity })
    const uri = known?.uri ?? fileUri(path)
    const document = { path, uri, languageId, version: known === undefined ? 0 : known.version + 1, lines: linesOf(text), identity }
    if (known === undefined) {
      if (traits.openClose) program.notify('textDocument/didOpen', { textDocument: { uri, languageId, version: 0, text } })
    } else if (traits.change !== 'none') {
      const whole = { start: { line: 0, character: 0 }, end: endOf(known.lines, traits.encoding) }
      const contentChanges = traits.change === 'full' ? [{ text }] : [{ range: whole, text }]
      program.notify('textDocument/didChange', { textDocument: { uri, version: document.version }, contentChanges })
    }
    return keep(document)
  }

  return {
    async sync(path, languageId, text) {
      if (text !== undefined) return tell(path, languageId, text, undefined)
      const identity = (await files.stat(path))?.identity
      const known = open.get(path)
      if (known !== undefined && identity !== undefined && known.identity === identity) return keep(known)
      const bytes = await files.read(path, LIMITS.lsp.documentBytes)
      return tell(path, languageId, new TextDecoder().decode(bytes), identity)
    },
    saved({ uri, lines }) {
      if (traits.save === 'no') return
      program.notify('textDocument/didSave', { textDocument: { uri }, ...(traits.save === 'text' && { text: lines.text }) })
    },
    get: (path) => open.get(path),
  }
}
