/**
 * The files of a tar archive (threat-model F4). Pure; throws a sentence for whatever is no plain file or directory.
 *
 * I1 A name leads below the place it is unpacked to: no `..`, no root, no drive, no backslash, valid UTF-8, and nothing that a terminal obeys.
 * I2 No name stands twice, and none is both a file and a directory.
 * I3 What a header says of sizes is held against the bytes that are there.
 * I4 The time it takes grows with the length of the archive, whatever stands in it: nothing can interrupt it.
 */
import { escapedText } from '../../../../protocol/text/visible-text.js'

export interface ArchivedFile {
  /** Names joined by "/". */
  readonly path: string
  readonly executable: boolean
  readonly content: Uint8Array
}

const BLOCK = 512
/** Of a text about the next entry. */
const LONGEST_NAME = 4096
/** What file systems take, and what has room below the folder of the packages; in bytes. */
const LONGEST_PART = 255
const LONGEST_PATH = 1024
/** Of the records before an entry, which hold attributes of files too. */
const LONGEST_RECORDS = 1024 * 1024
/** Of the digits that say how long a record is. */
const DIGITS = 7
const ANYBODY_MAY_RUN = 0o111
const REFUSED: Readonly<Record<string, string>> = {
  '1': 'a link',
  '2': 'a link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  K: 'a link',
  S: 'a sparse file',
}

/** At most `limit` files and directories; directories are left out, as nothing of them counts. */
export function readTar(archive: Uint8Array, limit: number): ArchivedFile[] {
  const files = new Map<string, ArchivedFile>()
  let renamed: string | undefined
  let entries = 0
  let at = 0
  while (at + BLOCK <= archive.length) {
    const header = archive.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) break
    if (checksum(header) !== octal(header, 148, 8)) throw new Error('it is no tar archive, or a damaged one')
    const size = octal(header, 124, 12)
    const content = archive.subarray(at + BLOCK, at + BLOCK + size)
    if (content.length < size) throw new Error('it ends in the middle of a file') // I3
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x') renamed = paxPath(content) ?? renamed
    else if (type === 'L') renamed = decoded(upToNul(limited(content)))
    else if (type !== 'g') {
      const name = renamed ?? nameOf(header)
      renamed = undefined
      if (++entries > limit) throw new Error(`it holds more than ${limit} files`)
      if (type === '5') {
        safePath(name.replace(/\/+$/, ''), true)
        continue
      }
      const path = safePath(name, false)
      if (type !== '0' && type !== '\0' && type !== '7')
        throw new Error(`"${path}" is ${REFUSED[type] ?? 'something'}, and only files and directories are taken`)
      if (files.has(path)) throw new Error(`"${path}" is in it twice`)
      files.set(path, { path, executable: (octal(header, 100, 8) & ANYBODY_MAY_RUN) !== 0, content })
    }
  }
  refuseBoth(files)
  return [...files.values()]
}

/** I1 */
function safePath(name: string, isDirectory: boolean): string {
  const parts = name.split('/').filter((part, index) => !(part === '.' && (index === 0 || isDirectory)))
  const isBad = (part: string) => part === '' || part === '.' || part === '..' || /[\\\p{Cc}]/u.test(part)
  const isRoot = isDirectory && parts.length === 0
  if (!isRoot && (parts.length === 0 || parts.some(isBad) || /^[a-z]:/i.test(name) || name.includes('\u{fffd}')))
    throw new Error(`"${escapedText(name.slice(0, 200))}" is no name of a file below the package`)
  if (Buffer.byteLength(name) > LONGEST_PATH || parts.some((part) => Buffer.byteLength(part) > LONGEST_PART))
    throw new Error(
      `the name "${escapedText(name.slice(0, 64))}…" is too long: at most ${LONGEST_PART} bytes, and ${LONGEST_PATH} with its folders`,
    )
  return parts.join('/')
}

/** I2. With the smallest character, which is in no name (I1), in the place of "/", what is below a name comes right after it (I4). */
function refuseBoth(files: ReadonlyMap<string, ArchivedFile>): void {
  const sorted = [...files.keys()].map((path) => path.replaceAll('/', '\0')).toSorted((a, b) => (a < b ? -1 : 1))
  const both = sorted.find((path, index) => sorted[index + 1]?.startsWith(`${path}\0`) === true)
  if (both !== undefined) throw new Error(`"${both.replaceAll('\0', '/')}" is both a file and a directory in it`)
}

function nameOf(header: Uint8Array): string {
  const name = decoded(upToNul(header.subarray(0, 100)))
  const isUstar = decoded(header.subarray(257, 262)) === 'ustar' && header[262] === 0
  const prefix = isUstar ? decoded(upToNul(header.subarray(345, 500))) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** `path` of records of the form `length key=value\n`; a size that differs from its header is nothing we make or need. */
function paxPath(content: Uint8Array): string | undefined {
  let path: string | undefined
  if (content.length > LONGEST_RECORDS) throw new Error('a header of it is too long')
  for (let at = 0; at < content.length; ) {
    const digits = /^\d+(?= )/.exec(decoded(content.subarray(at, at + DIGITS + 1)))?.[0] ?? '' // I4
    const length = Number(digits)
    if (length < 5 || at + length > content.length) throw new Error('a header of it cannot be read')
    const record = content.subarray(at + digits.length + 1, at + length - 1)
    const equals = record.indexOf(0x3d)
    const key = decoded(record.subarray(0, equals))
    if (key === 'path') path = decoded(limited(record.subarray(equals + 1)))
    if (key === 'size' || key === 'linkpath' || key.startsWith('GNU.sparse')) throw new Error('it holds links, or files beyond every limit')
    at += length
  }
  return path
}

function limited(bytes: Uint8Array): Uint8Array {
  if (bytes.length > LONGEST_NAME) throw new Error('a name in it is too long')
  return bytes
}

function octal(header: Uint8Array, from: number, length: number): number {
  const text = decoded(header.subarray(from, from + length))
    .replaceAll(/[\0 ]+/g, ' ')
    .trim()
  if (text === '') return 0
  if (!/^[0-7]{1,11}$/.test(text)) throw new Error('it is no tar archive, or a damaged one')
  return Number.parseInt(text, 8)
}

/** Over the header with blanks in the place of the sum itself. */
function checksum(header: Uint8Array): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0)
}

function upToNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
