/**
 * Files on this machine.
 *
 * Metadata and files of at most `SMALL` bytes are read with synchronous calls: on a local disk `stat` costs 6 µs
 * instead of 23 µs through the thread pool and reading 8 KiB 30 µs instead of 85 µs, less than the cost of switching back.
 * So is the listing of a small directory. Everything larger and every sync to disk goes through the thread pool. Those calls give way (`pace.ts`).
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import type { BigIntStats, Dirent, Stats } from 'node:fs'
import { open, opendir, readdir, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { DirectoryEntry, DiskRoom, FileStat, Files } from '../../../ports/effects.js'
import { exposureOf, findExposure } from './file-exposure.js'
import { fileEntry, makeLink, readLink } from './links.js'
import { remove } from './removal.js'
import { createSink, syncDirectory, writeAtomic } from './file-writes.js'
import { createPace, type Pace } from '../../../kernel/pause.js'
import { walkTree } from './tree.js'
import { createWatch } from './watch.js'
import { TELLS_AT_ONCE, watchFolder } from './watch-folder.js'
import { makeDirectories } from '../../../store/disk/make-directories.js'

const SMALL = 256 * 1024
const CHUNK = 256 * 1024
/** Bytes of a directory itself, which grow with its entries. */
const SMALL_DIRECTORY = 4096
const LARGE_DIRECTORY = 64 * 1024
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const flagsFor = (canonical: boolean) => (canonical ? READ_FLAGS | constants.O_NOFOLLOW : READ_FLAGS)
/** Reused by every small read: the synchronous path never yields between filling and copying. */
let scratch: Buffer | undefined

export function createNodeFiles(pace: Pace = createPace({ now: () => performance.now() })): Files {
  const paced =
    <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
    async (...args: Args): Promise<Awaited<T>> => {
      const turn = pace()
      if (turn !== undefined) await turn
      const done = work(...args)
      return done as Awaited<T> | Promise<Awaited<T>>
    }
  return {
    realPath: paced((path: string) => realpathSync.native(path)),
    stat: paced(fileStat),
    entry: paced(fileEntry),
    readLink: paced(readLink),
    makeLink,
    exposure: paced(findExposure),
    readDirectory: paced(readDirectory),
    room: diskRoom,
    read: paced((path: string, maxBytes: number, options?: { readonly canonical?: boolean }) =>
      readWhole(path, maxBytes, options?.canonical === true),
    ),
    readRange: async (path, offset, length, options) => readRange(path, offset, length, options?.canonical === true),
    readChunks: (path, signal, options) => readChunks(path, signal, options?.canonical === true),
    writeAtomic,
    makeDirectory: async (path, options) => {
      await makeDirectories(path, options?.mode)
    },
    remove,
    rename: async (from, to) => {
      await rename(from, to)
      await syncDirectory(dirname(to))
    },
    createFile: createSink,
    walk: (directory, options) => walkTree(directory, options.maxEntries),
    removeTree: async (path) => rm(path, { recursive: true, force: true }),
    watch: createWatch(),
    watchFolder,
    tellsAtOnce: TELLS_AT_ONCE,
  }
}

function fileStat(path: string): FileStat | undefined {
  const stat = statIfPresent(path)
  if (stat === undefined) return undefined
  return {
    kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
    size: Number(stat.size),
    modifiedMs: Number(stat.mtimeMs),
    identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
    mode: Number(stat.mode) & 0o7777,
    exposure: exposureOf({ uid: Number(stat.uid), gid: Number(stat.gid), mode: Number(stat.mode) }),
  }
}

function statIfPresent(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Entries of a large directory are made a few at a time, those of a small one at once, and those of another in one turn of the event loop. */
async function readDirectory(path: string): Promise<DirectoryEntry[]> {
  const size = statIfPresent(path)?.size ?? 0n
  if (size <= SMALL_DIRECTORY) return readdirSync(path, { withFileTypes: true }).map(directoryEntry)
  if (size < LARGE_DIRECTORY) return (await readdir(path, { withFileTypes: true })).map(directoryEntry)
  const entries: DirectoryEntry[] = []
  for await (const entry of await opendir(path, { bufferSize: 1024 })) entries.push(directoryEntry(entry))
  return entries
}

function directoryEntry(entry: Dirent): DirectoryEntry {
  const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other'
  return { name: entry.name, kind }
}

async function readWhole(path: string, maxBytes: number, canonical: boolean): Promise<Uint8Array> {
  checkRegular(path, statSync(path), maxBytes)
  const fd = openSync(path, flagsFor(canonical))
  let size: number
  try {
    const stat = fstatSync(fd)
    checkRegular(path, stat, maxBytes)
    if (canonical) checkOpenedPath(fd, path)
    size = stat.size
    if (size < SMALL) {
      const small = readSmall(fd, path, maxBytes)
      if (small !== undefined) return small
    }
  } finally {
    closeSync(fd)
  }
  return readLarge(path, maxBytes, canonical)
}

/** The whole file, or undefined when it turns out to be larger than the scratch buffer. */
function readSmall(fd: number, path: string, maxBytes: number): Uint8Array | undefined {
  scratch ??= Buffer.allocUnsafeSlow(SMALL)
  let length = 0
  while (length < SMALL) {
    const count = readSync(fd, scratch, length, SMALL - length, null)
    if (count === 0) return new Uint8Array(scratch.subarray(0, length))
    length += count
    if (length > maxBytes) throw tooLarge(path, length, maxBytes)
  }
  return undefined
}

async function readLarge(path: string, maxBytes: number, canonical: boolean): Promise<Uint8Array> {
  const handle = await open(path, flagsFor(canonical))
  try {
    const stat = await handle.stat()
    checkRegular(path, stat, maxBytes)
    if (canonical) checkOpenedPath(handle.fd, path)
    let bytes = Buffer.allocUnsafeSlow(stat.size + 1)
    let length = 0
    for (;;) {
      if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(bytes.length * 2, maxBytes + 1))
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, null)
      if (bytesRead === 0) return new Uint8Array(bytes.buffer, bytes.byteOffset, length)
      length += bytesRead
      if (length > maxBytes) throw tooLarge(path, length, maxBytes)
    }
  } finally {
    await handle.close()
  }
}

async function readRange(path: string, offset: number, length: number, canonical: boolean): Promise<Uint8Array> {
  checkRegular(path, statSync(path), Number.POSITIVE_INFINITY)
  const handle = await open(path, flagsFor(canonical))
  try {
    checkRegular(path, await handle.stat(), Number.POSITIVE_INFINITY)
    if (canonical) checkOpenedPath(handle.fd, path)
    const bytes = Buffer.allocUnsafeSlow(length)
    let filled = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled)
      filled += bytesRead
      if (bytesRead === 0 || filled === length) return new Uint8Array(bytes.buffer, bytes.byteOffset, filled)
    }
  } finally {
    await handle.close()
  }
}

async function* readChunks(path: string, signal: AbortSignal, canonical: boolean): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  checkRegular(path, statSync(path), Number.POSITIVE_INFINITY)
  const handle = await open(path, flagsFor(canonical))
  try {
    checkRegular(path, await handle.stat(), Number.POSITIVE_INFINITY)
    if (canonical) checkOpenedPath(handle.fd, path)
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(CHUNK), 0, CHUNK, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

function checkRegular(path: string, stat: Stats, maxBytes: number): void {
  if (!stat.isFile()) {
    const what = stat.isDirectory() ? 'a directory' : 'a special file'
    throw new SvcError('request.unprocessable', `"${path}" is ${what}, not a regular file.`, { path })
  }
  if (stat.size > maxBytes) throw tooLarge(path, stat.size, maxBytes)
}

function tooLarge(path: string, size: number, maxBytes: number): SvcError {
  return new SvcError('request.unprocessable', `"${path}" is larger than ${maxBytes} bytes.`, { path, size, maxBytes })
}

/** The opened file is the one that was approved, not one a replaced link leads to (threat-model F1). Linux only; elsewhere the last component alone is protected. */
function checkOpenedPath(fd: number, path: string): void {
  if (process.platform !== 'linux') return
  const opened = readlinkSync(`/proc/self/fd/${fd}`)
  if (opened !== path)
    throw new SvcError('request.unprocessable', `"${path}" changed into a link to "${opened}" while it was opened.`, { path })
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** A path that is gone has none. */
async function diskRoom(path: string): Promise<DiskRoom | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return undefined
  }
}
