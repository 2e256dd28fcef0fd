/**
 * One tar file with what a backup holds, written and read as a stream of members.
 *
 * I1 It has its name when it is whole and on the disk; before that it is a file of another name, for its owner alone.
 * I2 The list of its members with their digests comes last: what was cut off has none.
 */
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { paddedTo, readLongName, readTarHeader, TAR_BLOCK, tarHeaders } from '../../protocol/text/tar-header.js'

const CHUNK = 1024 * 1024
/** Bytes between two pauses, and how long these are, ms: others use the disk too. */
const STRETCH = 8 * CHUNK
const PAUSE = 4
const LONGEST_NAME = 8192
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

export interface Member {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

export interface ArchiveWriter {
  /** A file as it is now; undefined when it is gone, or is none. */
  addFile(path: string, from: string): Member | undefined
  addText(path: string, text: string): Member
  /** I1 */
  finish(): void
  discard(): void
}

export function writeArchive(file: string): ArchiveWriter {
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  const out = openSync(partial, 'wx', 0o600)
  fchmodSync(out, 0o600)
  const buffer = Buffer.allocUnsafe(CHUNK)
  let written = 0

  function write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(out, bytes, at)
    if (Math.floor(written / STRETCH) !== Math.floor((written += bytes.length) / STRETCH)) Atomics.wait(nobody, 0, 0, PAUSE)
  }

  function add(path: string, mode: number, size: number, chunks: Iterable<Uint8Array>): Member {
    for (const block of tarHeaders(path, mode, size)) write(block)
    const hash = createHash('sha256')
    for (const chunk of chunks) {
      hash.update(chunk)
      write(chunk)
    }
    write(new Uint8Array(paddedTo(size) - size))
    return { path, size, sha256: hash.digest('hex') }
  }

  return {
    addFile(path, from) {
      const opened = openedFile(from)
      if (opened === undefined) return undefined
      try {
        return add(path, opened.mode, opened.size, chunksOf(opened.descriptor, 0, opened.size, buffer))
      } finally {
        closeSync(opened.descriptor)
      }
    },
    addText: (path, text) => add(path, 0o600, Buffer.byteLength(text), [Buffer.from(text)]),
    finish() {
      write(new Uint8Array(2 * TAR_BLOCK))
      fsyncSync(out)
      closeSync(out)
      renameSync(partial, file)
      syncFolder(dirname(file))
    },
    discard() {
      closeSync(out)
      rmSync(partial, { force: true })
    },
  }
}

/** Nobody is waited for who would write a pipe of that name. */
function openedFile(path: string): { readonly descriptor: number; readonly size: number; readonly mode: number } | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP')) return undefined
    throw error
  }
  const found = fstatSync(descriptor)
  if (found.isFile()) return { descriptor, size: found.size, mode: found.mode & 0o777 }
  closeSync(descriptor)
  return undefined
}

function* chunksOf(descriptor: number, from: number, size: number, buffer: Buffer): Generator<Buffer> {
  for (let at = 0; at < size; ) {
    const read = readSync(descriptor, buffer, 0, Math.min(buffer.length, size - at), from + at)
    if (read === 0) throw new Error('a file became shorter while it was read: try again')
    at += read
    yield buffer.subarray(0, read)
  }
}

export interface ArchivedMember {
  readonly path: string
  readonly size: number
  readonly mode: number
  /** To be read before the next member, once. */
  chunks(): Iterable<Uint8Array>
}

/** The members of an archive in their order; throws a sentence when it is damaged. */
export function* readArchive(file: string): Generator<ArchivedMember> {
  const descriptor = openSync(file, O_RDONLY | O_NONBLOCK)
  const buffer = Buffer.allocUnsafe(CHUNK)
  try {
    const { size: length } = fstatSync(descriptor)
    let longName: string | undefined
    for (let at = 0; ; ) {
      if (at + TAR_BLOCK > length) throw new Error('it ends before it is whole')
      const header = readTarHeader(Buffer.concat([...chunksOf(descriptor, at, TAR_BLOCK, buffer)].map((chunk) => Buffer.from(chunk))))
      if (header === undefined) return
      const { type, name, size, mode } = header
      const begin = at + TAR_BLOCK
      at = begin + paddedTo(size)
      if (at > length) throw new Error('it ends in the middle of a file')
      if (type === 'x' && size <= LONGEST_NAME) {
        longName = readLongName(Buffer.concat([...chunksOf(descriptor, begin, size, buffer)].map((chunk) => Buffer.from(chunk))))
        continue
      }
      if (type !== '0') throw new Error(`"${name}" is neither a file nor a name, and only these are taken`)
      yield { path: longName ?? name, size, mode, chunks: () => chunksOf(descriptor, begin, size, buffer) }
      longName = undefined
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, O_RDONLY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
