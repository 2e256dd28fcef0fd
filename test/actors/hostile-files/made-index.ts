/** An index as git would never write it. */
export interface MadeEntry {
  /** In version 4, what follows the bytes that are kept of the name before. */
  readonly name: string
  readonly kept?: number
  readonly mode?: number
}

/** Without a checksum, as with `index.skipHash`. */
export function indexOf(entries: Iterable<MadeEntry>, version: 2 | 4 = 4, extensions: Uint8Array = new Uint8Array()): Buffer {
  const parts: Uint8Array[] = []
  let before = 0
  let count = 0
  for (const { name, kept = 0, mode = 0o100644 } of entries) {
    count++
    const text = Buffer.from(name)
    const fixed = Buffer.alloc(62)
    fixed.writeUInt32BE(mode, 24)
    fixed.writeUInt16BE(Math.min(0xfff, text.length), 60)
    const prefix = Math.min(kept, before)
    const padding = version === 4 ? 1 : 8 - ((62 + text.length) % 8)
    parts.push(fixed, ...(version === 4 ? [numberOf(before - prefix)] : []), text, Buffer.alloc(padding))
    before = prefix + text.length
  }
  const head = Buffer.alloc(12)
  head.write('DIRC', 'latin1')
  head.writeUInt32BE(version, 4)
  head.writeUInt32BE(count, 8)
  return Buffer.concat([head, ...parts, extensions, Buffer.alloc(20)])
}

/** As git writes offsets. */
function numberOf(value: number): Buffer {
  const bytes = [value & 127]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(128 | (--rest & 127))
  return Buffer.from(bytes)
}
