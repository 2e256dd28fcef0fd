/** Paths and file addresses. */

/** Percent-encoded. */
export function fileUri(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`
}

/** The path of a file address; undefined for any other. */
export function pathOfUri(uri: string): string | undefined {
  if (!uri.startsWith('file:///')) return undefined
  try {
    const path = decodeURIComponent(uri.slice('file://'.length))
    return path.includes('\0') ? undefined : path
  } catch {
    return undefined
  }
}
