const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Whether JSON text nests brackets, outside strings, deeper than `limit` levels; parsing is not needed, nor that it is valid. */
export function isDeeperThan(bytes: Uint8Array, limit: number): boolean {
  if (bytes.length <= limit) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (inString) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limit) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return false
}
