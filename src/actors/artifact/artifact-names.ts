/** Names and media types of uploads as they may be stored and sent back (subsystems m). Pure. */

const MAX_FILENAME = 255
const UNNAMED = 'attachment'
const TOKEN = "[A-Za-z0-9!#$&^_.+'*%`|~-]+"
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:\\s*;\\s*${TOKEN}=(?:${TOKEN}|"[^"\\\\\\p{Cc}]*"))*$`, 'u')

/** A display name without separators, control characters and marks that reorder text; at most 255 bytes, never empty. */
export function safeFilename(filename: string | undefined): string {
  const bare = (filename ?? '').replace(/[\p{Cc}\p{Surrogate}\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029/\\]/gu, '').trim()
  const cut = cutToBytes(bare, MAX_FILENAME).trim()
  return /^\.*$/.test(cut) ? UNNAMED : cut
}

/** `type/subtype` with its parameters, or `application/octet-stream` for anything else. */
export function safeMediaType(mediaType: string): string {
  const trimmed = mediaType.trim()
  return trimmed.length <= 255 && MEDIA_TYPE.test(trimmed) ? trimmed : 'application/octet-stream'
}

function cutToBytes(text: string, max: number): string {
  let bytes = 0
  let kept = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > max) break
    kept += character
  }
  return kept
}
