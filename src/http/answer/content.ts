/** Names of stored bytes in headers (subsystems m; threat-model S3). */

// Control, format and bidirectional characters, and path separators.
const UNSAFE = /[\p{Cc}\p{Cf}/\\]/gu

/** The text of an `X-Svc-Filename` header: percent-encoded, or plain UTF-8. What may be kept of it is decided where it is stored. */
export function filenameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  // Header bytes arrive as Latin-1.
  const text = new TextDecoder().decode(Buffer.from(header, 'latin1'))
  if (!/%[0-9a-f]{2}/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A Content-Disposition that saves and never shows (RFC 6266). */
export function attachment(filename: string): string {
  const safe = filename.replace(UNSAFE, '').replace(/\p{Surrogate}/gu, '_')
  const ascii = safe.replace(/[^\x20-\x7e]|["%]/g, '_')
  if (ascii === safe) return `attachment; filename="${ascii}"`
  const encoded = encodeURIComponent(safe).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** Whether an If-None-Match header names this entity. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((entry) => {
    const tag = entry.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
