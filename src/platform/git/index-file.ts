/**
 * The index of a repository as bytes: versions 2, 3 and 4, split and sparse, with object ids of either length. Pure.
 *
 * I1 Nothing is believed of a file that is not whole: a length that leads outside, a wrong checksum or an extension that must be
 *    known and is not throws a sentence.
 * I2 It costs what it touches, names that are told by those before them included (`work.ts`).
 */
import { LIMITS } from '../../protocol/limits.js'
import { ENTRY, type Reading, SLICE } from '../../kernel/work.js'

export type ObjectFormat = 'sha1' | 'sha256'

export interface IndexEntry {
  /** As it is written; empty in a split index for an entry that replaces one of the shared part. */
  readonly name: string
  readonly id: string
  /** Of the working file as git saw it last; 0 also when git does not trust what it saw. */
  readonly size: number
  readonly modifiedSeconds: number
  readonly modifiedNanoseconds: number
}

export interface IndexContent {
  readonly entries: readonly IndexEntry[]
  /** Directories of a sparse index whose files it does not list, with the slash at the end. */
  readonly directories: readonly string[]
  /** Directories that are repositories of their own. */
  readonly submodules: readonly string[]
  /** Id of the shared part of a split index. */
  readonly shared: string | undefined
}

export interface IndexOptions {
  readonly format: ObjectFormat
  /** Begins a digest of the format. */
  hash(): { update(bytes: Uint8Array): unknown; digest(encoding: 'hex'): string }
  /** Whether an entry of this name matters; entries without a name always do. */
  matters(name: string): boolean
}

const ID_BYTES = { sha1: 20, sha256: 32 } as const
const SIGNATURE = 0x44495243 // DIRC
const HEADER = 12
const STAT_BYTES = 40
const EXTENDED = 0x4000
const INTENT_TO_ADD = 0x2000
const DIRECTORY = 0o040000
const SUBMODULE = 0o160000
/** Git knows of ten. */
const EXTENSIONS = 256
/** Marks that follow each other: no name has so many, and bringing them into order takes the square of their number. */
const MARKS = /\p{M}{31}/u
/** What becomes of a name besides its text: it is decoded, folded and compared. */
const PER_CHARACTER = 4

export function* readIndex(bytes: Uint8Array, { format, hash, matters }: IndexOptions): Reading<IndexContent> {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const idBytes = ID_BYTES[format]
  const end = data.length - idBytes
  if (end < HEADER || data.readUInt32BE(0) !== SIGNATURE) throw new Error('it is no index')
  const version = data.readUInt32BE(4)
  if (version < 2 || version > 4) throw new Error(`its version ${version} is not known`)
  const checksum = data.subarray(end)
  // Zeros: written with index.skipHash.
  if (checksum.some((byte) => byte !== 0)) {
    const hasher = hash()
    for (let start = 0; start < end; start += SLICE) {
      const piece = data.subarray(start, Math.min(start + SLICE, end))
      hasher.update(piece)
      yield piece.length
    }
    if (hasher.digest('hex') !== checksum.toString('hex')) throw new Error('its checksum is wrong')
  }
  const entries: IndexEntry[] = []
  const directories: string[] = []
  const submodules: string[] = []
  let at = HEADER
  let before: Buffer = Buffer.alloc(0)
  const count = data.readUInt32BE(8)
  for (let index = 0; index < count; index++) {
    const start = at
    const flagsAt = start + STAT_BYTES + idBytes
    need(flagsAt + 2)
    const flags = data.readUInt16BE(flagsAt)
    const isExtended = version > 2 && (flags & EXTENDED) !== 0
    at = flagsAt + (isExtended ? 4 : 2)
    need(at)
    const more = isExtended ? data.readUInt16BE(flagsAt + 2) : 0
    const name = readName(start)
    const text = name.toString('utf8')
    if (text.length !== name.length && MARKS.test(text)) throw new Error('a name in it is too long')
    yield at - start + name.length * PER_CHARACTER + ENTRY
    const mode = data.readUInt32BE(start + 24)
    if (mode === SUBMODULE) submodules.push(text)
    if (mode === DIRECTORY) directories.push(text)
    // What is only meant to be added has no content in the index.
    else if ((more & INTENT_TO_ADD) === 0 && (text === '' || matters(text))) entries.push(entryAt(start, text))
  }
  return { entries, directories, submodules, shared: yield* readExtensions() }

  /** I1. */
  function need(until: number): void {
    if (until > end) throw new Error('it ends too early')
  }

  function readName(start: number): Buffer {
    let kept = 0
    if (version === 4) {
      const removed = readNumber()
      if (removed > before.length) throw new Error('a name in it is wrong')
      kept = before.length - removed
    }
    const close = data.indexOf(0, at)
    if (close === -1) throw new Error('it ends too early')
    need(close + 1)
    const rest = data.subarray(at, close)
    if (kept + rest.length > LIMITS.git.nameLength) throw new Error('a name in it is too long')
    at = version === 4 ? close + 1 : start + ((close - start + 8) & ~7)
    need(at)
    if (version < 4) return rest
    before = kept === 0 ? rest : Buffer.concat([before.subarray(0, kept), rest])
    return before
  }

  /** As git writes offsets: seven bits at a time, the first ones first, each step beyond what fewer bytes could say. */
  function readNumber(): number {
    let value = 0
    for (let length = 0; length < 5; length++) {
      need(at + 1)
      const byte = data.readUInt8(at++)
      value = (length === 0 ? 0 : (value + 1) * 128) + (byte & 127)
      if ((byte & 128) === 0) return value
    }
    throw new Error('a name in it is wrong')
  }

  function entryAt(start: number, name: string): IndexEntry {
    return {
      name,
      id: data.toString('hex', start + STAT_BYTES, start + STAT_BYTES + idBytes),
      size: data.readUInt32BE(start + 36),
      modifiedSeconds: data.readUInt32BE(start + 8),
      modifiedNanoseconds: data.readUInt32BE(start + 12),
    }
  }

  function* readExtensions(): Reading<string | undefined> {
    let shared: string | undefined
    for (let count = 0; at < end; count++) {
      if (count === EXTENSIONS) throw new Error(`it has more than ${EXTENSIONS} extensions`)
      yield ENTRY
      need(at + 8)
      const name = data.toString('latin1', at, at + 4)
      const start = at + 8
      at = start + data.readUInt32BE(at + 4)
      need(at)
      if (name === 'link') {
        if (at - start < idBytes) throw new Error('its link to a shared index is cut')
        const id = data.subarray(start, start + idBytes)
        if (id.some((byte) => byte !== 0)) shared = id.toString('hex')
      } else if (name !== 'sdir' && !/^[A-Z]/.test(name)) {
        throw new Error(`its extension "${name}" is not known`)
      }
    }
    return shared
  }
}
