/** Strings on both sides: the VM has bytes, everybody else has text. */
const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const cached = new Map<string, Uint8Array>()

/** UTF-8; lone surrogates become U+FFFD. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

/** For names that sources write down, never for text that comes from outside. */
export function nameBytes(name: string): Uint8Array {
  let bytes = cached.get(name)
  if (bytes === undefined) {
    bytes = encoder.encode(name)
    cached.set(name, bytes)
  }
  return bytes
}

/** Undefined when the bytes are no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** At most `limit` bytes, for people; what is no UTF-8 becomes U+FFFD. */
export function shownText(bytes: Uint8Array, limit: number): string {
  const text = lenient.decode(bytes.subarray(0, limit))
  return bytes.length > limit ? `${text}…` : text
}
