/** An index that lists files as added and not yet looked at, as `git add --intent-to-add` writes it. Looks at no file. */
import { createHash } from 'node:crypto'
import { nextTurn } from '../../kernel/pause.js'
import { sortInTurns } from '../../kernel/sort.js'
import type { ObjectFormat } from './index-file.js'

const HEADER = 12
const STAT_BYTES = 40
const MODE_AT = 24
const REGULAR = 0o100644
const EXTENDED = 0x4000
const LONGEST = 0xfff
const INTENT_TO_ADD = 0x2000
/** Entries between two pauses. */
const PIECE = 4096

/** `paths` from the root of the worktree, once each. */
export async function addedIndex(paths: readonly Uint8Array[], format: ObjectFormat): Promise<Uint8Array> {
  const nothing = createHash(format).update('blob 0\0').digest()
  const header = Buffer.alloc(HEADER)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(3, 4)
  header.writeUInt32BE(paths.length, 8)
  const parts: Uint8Array[] = [header]
  const sorted = await sortInTurns(paths, Buffer.compare, nextTurn)
  for (const [index, path] of sorted.entries()) {
    if (index % PIECE === PIECE - 1) await nextTurn()
    parts.push(entryOf(path, nothing))
  }
  const content = Buffer.concat(parts)
  return Buffer.concat([content, createHash(format).update(content).digest()])
}

/** Zeros behind the name, one at least, so that the next entry begins at a multiple of eight. */
function entryOf(path: Uint8Array, id: Uint8Array): Uint8Array {
  const flagsAt = STAT_BYTES + id.length
  const nameAt = flagsAt + 4
  const entry = Buffer.alloc((nameAt + path.length + 8) & ~7)
  entry.writeUInt32BE(REGULAR, MODE_AT)
  entry.set(id, STAT_BYTES)
  entry.writeUInt16BE(EXTENDED | Math.min(path.length, LONGEST), flagsAt)
  entry.writeUInt16BE(INTENT_TO_ADD, flagsAt + 2)
  entry.set(path, nameAt)
  return entry
}
