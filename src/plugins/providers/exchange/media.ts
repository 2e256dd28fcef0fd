/** Files of a prompt as the SDK takes them: images, PDF documents, sound, text; a note for what it would refuse. */
import type { LanguageModelV3FilePart, LanguageModelV3TextPart } from '@ai-sdk/provider'
import type { Held } from './held.js'
import type { FilePart } from '../../../protocol/message/message.js'

export type MediaFile = Pick<FilePart, 'mime' | 'url' | 'filename'>

const BASE64_TEXT = /^[A-Za-z0-9+/\s]*={0,2}$/
const BASE64 = new Set(['application/pdf', 'audio/wav', 'audio/mp3', 'audio/mpeg'])

/** One file as message content; what cannot be carried becomes a text note that names it. */
export function toContent(file: MediaFile, held: Pick<Held, 'hold'>): LanguageModelV3TextPart | LanguageModelV3FilePart {
  const { mime, filename, url } = file
  const name = filename === undefined ? {} : { filename }
  const data = base64(url)
  if (data !== undefined && (mime.startsWith('image/') || BASE64.has(mime)))
    return { type: 'file', mediaType: mime, data: held.hold(data, file), ...name }
  if (mime.startsWith('image/') && /^(data|https?):/.test(url) && URL.canParse(url))
    return { type: 'file', mediaType: mime, data: new URL(url) }
  const text = url.startsWith('data:') && mime.startsWith('text/') ? decodeText(url) : undefined
  if (text !== undefined) return { type: 'text', text: `${filename ?? 'attachment'}:\n${text}` }
  return { type: 'text', text: `[${filename ?? 'attachment'} (${mime}) cannot be sent to this model]` }
}

/** What a base64 data URL carries; undefined for any other URL. */
function base64(url: string): string | undefined {
  const comma = url.indexOf(',')
  return url.startsWith('data:') && url.slice(0, comma).endsWith(';base64') ? url.slice(comma + 1) : undefined
}

function decodeText(url: string): string | undefined {
  const data = base64(url)
  try {
    if (data === undefined) return decodeURIComponent(url.slice(url.indexOf(',') + 1))
    return BASE64_TEXT.test(data.trimEnd()) ? Buffer.from(data, 'base64').toString('utf8') : undefined
  } catch {
    return undefined
  }
}
