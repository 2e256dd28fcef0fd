/** The index of a pack (`.idx`, version 2) as bytes: where an object starts. Pure; throws a sentence for what it does not know. */
import { positionOf } from './id-table.js'

const SIGNATURE = 0xff744f63
const FANOUT = 8
const NAMES = FANOUT + 1024
const FAR = 0x8000_0000

export interface PackIndex {
  /** Offset of an object in the pack. */
  find(id: string): number | undefined
}

export function readPackIndex(bytes: Uint8Array, idBytes: number): PackIndex {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (data.length < NAMES || data.readUInt32BE(0) !== SIGNATURE || data.readUInt32BE(4) !== 2) {
    throw new Error('one of its packs has an index of another version than 2')
  }
  const count = data.readUInt32BE(NAMES - 4)
  const near = NAMES + count * (idBytes + 4)
  const far = near + count * 4
  if (far > data.length) throw new Error('the index of one of its packs is cut')

  return {
    find(id) {
      const position = positionOf({ data, fanout: FANOUT, names: NAMES, count }, Buffer.from(id, 'hex'), idBytes)
      return position === undefined ? undefined : offsetOf(position)
    },
  }

  function offsetOf(position: number): number {
    const offset = data.readUInt32BE(near + position * 4)
    if (offset < FAR) return offset
    const at = far + (offset - FAR) * 8
    if (at + 8 > data.length) throw new Error('the index of one of its packs is cut')
    return Number(data.readBigUInt64BE(at))
  }
}
