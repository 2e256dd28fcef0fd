/** Files of a prompt as the chat protocol carries them: images, PDF documents, sound, text; a note for the rest. */
import type { FilePart } from '../../protocol/message.js'

export type MediaFile = Pick<FilePart, 'mime' | 'url' | 'filename'>

export type ChatContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: 'wav' | 'mp3' } }

const SOUND: Readonly<Record<string, 'wav' | 'mp3'>> = { 'audio/wav': 'wav', 'audio/mp3': 'mp3', 'audio/mpeg': 'mp3' }

/** One file as message content; what cannot be carried becomes a text note that names it. */
export function toChatContent(file: MediaFile): ChatContent {
  const inline = file.url.startsWith('data:')
  const web = file.url.startsWith('https:') || file.url.startsWith('http:')
  if (file.mime.startsWith('image/') && (inline || web)) return { type: 'image_url', image_url: { url: file.url } }
  if (inline && file.mime === 'application/pdf') {
    return { type: 'file', file: { filename: file.filename ?? 'document.pdf', file_data: file.url } }
  }
  const format = SOUND[file.mime]
  if (inline && format !== undefined) return { type: 'input_audio', input_audio: { data: payload(file.url), format } }
  const text = inline && file.mime.startsWith('text/') ? decodeText(file.url) : undefined
  if (text !== undefined) return { type: 'text', text: `${file.filename ?? 'attachment'}:\n${text}` }
  return { type: 'text', text: `[${file.filename ?? 'attachment'} (${file.mime}) cannot be sent to this model]` }
}

function payload(url: string): string {
  return url.slice(url.indexOf(',') + 1)
}

function decodeText(url: string): string | undefined {
  const comma = url.indexOf(',')
  try {
    if (!url.slice(0, comma).endsWith(';base64')) return decodeURIComponent(payload(url))
    const binary = atob(payload(url))
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  } catch {
    return undefined
  }
}
