/** Files that a model looks at rather than reads: images and PDF (sessions-events §10.7). */
import { extension } from '../../../protocol/text/paths.js'

const TYPES: Readonly<Record<string, { readonly mime: string; readonly what: string; readonly magic: string }>> = {
  jpg: { mime: 'image/jpeg', what: 'Image', magic: '\xff\xd8\xff' },
  jpeg: { mime: 'image/jpeg', what: 'Image', magic: '\xff\xd8\xff' },
  png: { mime: 'image/png', what: 'Image', magic: '\x89PNG\r\n\x1a\n' },
  gif: { mime: 'image/gif', what: 'Image', magic: 'GIF8' },
  webp: { mime: 'image/webp', what: 'Image', magic: 'RIFF' },
  pdf: { mime: 'application/pdf', what: 'PDF', magic: '%PDF-' },
}

export interface MediaType {
  readonly mime: string
  readonly what: string
}

/** What the name of a file promises, or undefined for an ordinary file. */
export function mediaTypeOf(path: string): MediaType | undefined {
  return TYPES[extension(path)]
}

/** Whether the content is what the name promises. */
export function isMedia(path: string, content: Uint8Array): boolean {
  const magic = TYPES[extension(path)]?.magic
  if (magic === undefined) return false
  for (let index = 0; index < magic.length; index++) if (content[index] !== magic.charCodeAt(index)) return false
  return true
}
