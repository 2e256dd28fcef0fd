/**
 * Commits of a repository, from loose objects and packs. Starts nothing; nothing that is missing is fetched.
 *
 * I1 Everything read for one answer is paid for (`work.ts`): beyond the limits it rejects, before it reads more.
 * I2 Only the repository's own objects are read: those of alternates count as missing.
 */
import { join } from 'node:path'
import { LIMITS } from '../../../protocol/limits.js'
import { LOOK, type Work } from '../../../kernel/work.js'
import type { Effects } from '../../../ports/effects.js'
import { createFilePages } from './file-pages.js'
import { applyDelta, readPackEntry } from './pack-entry.js'
import { type PackIndex, readPackIndex } from './pack-index.js'

type Files = Pick<Effects['files'], 'read' | 'readRange' | 'readDirectory' | 'stat'>

export interface Commits {
  /** Ids of the parents. Rejects with a sentence when the commit is missing or cannot be read. */
  parents(id: string): Promise<readonly string[]>
}

interface Pack {
  readonly path: string
  readonly index: PackIndex
}

interface Found {
  readonly kind: 'commit' | 'other'
  readonly content: Buffer
}

const { objectBytes, objectsBytes, packIndexBytes, packs: MAX_PACKS, pageBytes, commits: MAX_COMMITS } = LIMITS.git
const ENTRY_BYTES = 4096
const MAX_DEPTH = 300
/** Of all deltas that lead to one object. */
const DELTA_BYTES = 16 * objectBytes
/** Inflating and applying a delta go through bytes one by one. */
const PER_BYTE = 4
/** Finding an object, whatever its size. */
const PER_OBJECT = 1024

/** For one answer: what it has found of the packs may be old for the next one. */
export function createCommits(files: Files, objectsDirectory: string, idBytes: number, work: Work): Commits {
  const pages = createFilePages(files, pageBytes)
  let packs: Promise<readonly Pack[]> | undefined
  let read = 0
  let made = 0

  async function readPacks(): Promise<readonly Pack[]> {
    const directory = join(objectsDirectory, 'pack')
    if ((await files.stat(directory))?.kind !== 'directory') return []
    const names = (await files.readDirectory(directory)).map(({ name }) => name).filter((name) => name.endsWith('.idx'))
    if (names.length > MAX_PACKS) throw new Error(`it has more than ${MAX_PACKS} packs`)
    const found: Pack[] = []
    let left: number = packIndexBytes
    for (const name of names) {
      const bytes = await files.read(join(directory, name), left)
      await work.pay(LOOK)
      left -= bytes.length
      found.push({ path: join(directory, name.replace(/idx$/, 'pack')), index: readPackIndex(bytes, idBytes) })
    }
    return found
  }

  /** I1. */
  async function inflate(bytes: Buffer, size: number): Promise<Buffer> {
    const content = inflated(bytes, size)
    made += content.length
    if (made > objectsBytes) throw new Error('its history is too large')
    await work.pay(content.length * PER_BYTE)
    return content
  }

  async function loose(id: string): Promise<Found | undefined> {
    const path = join(objectsDirectory, id.slice(0, 2), id.slice(2))
    if ((await files.stat(path))?.kind !== 'file') return undefined
    const bytes = await inflate(Buffer.from(await files.read(path, objectBytes)), objectBytes)
    const end = bytes.indexOf(0)
    return { kind: bytes.toString('latin1', 0, 7) === 'commit ' ? 'commit' : 'other', content: bytes.subarray(end + 1) }
  }

  async function packed(id: string): Promise<Found | undefined> {
    packs ??= readPacks()
    for (const pack of await packs) {
      const offset = pack.index.find(id)
      if (offset !== undefined) return unpack(pack, offset)
    }
    return undefined
  }

  async function unpack(pack: Pack, offset: number): Promise<Found> {
    const deltas: Buffer[] = []
    let deltaBytes = 0
    for (let at = offset; ; ) {
      const begin = await pages.bytes(pack.path, at, ENTRY_BYTES)
      const entry = readPackEntry(begin, at, idBytes)
      if (entry.size > objectBytes) throw new Error('an object in one of its packs is too large')
      // What deflate may at most make of that many bytes.
      const bound = entry.start + entry.size + (entry.size >> 10) + 64
      const bytes = bound <= begin.length ? begin.subarray(0, bound) : await pages.bytes(pack.path, at, bound)
      const content = await inflate(bytes.subarray(entry.start), entry.size)
      if (content.length !== entry.size) throw new Error('an object in one of its packs is damaged')
      if (entry.kind !== undefined) return { kind: entry.kind, content: await withDeltas(content, deltas) }
      deltas.push(content)
      deltaBytes += content.length
      if (deltas.length > MAX_DEPTH || deltaBytes > DELTA_BYTES) throw new Error('an object in one of its packs has too many deltas')
      const base = typeof entry.base === 'string' ? pack.index.find(entry.base) : entry.base
      if (base === undefined) throw new Error('an object in one of its packs is against one that is missing')
      at = base
    }
  }

  async function withDeltas(base: Buffer, deltas: readonly Buffer[]): Promise<Buffer> {
    let content = base
    for (const delta of deltas.toReversed()) {
      await work.pay((content.length + delta.length) * PER_BYTE)
      content = applyDelta(content, delta, objectBytes)
    }
    return content
  }

  return {
    async parents(id) {
      read += 1
      if (read > MAX_COMMITS) throw new Error(`it has more than ${MAX_COMMITS} commits that no commit graph lists`)
      await work.pay(PER_OBJECT)
      const found = (await packed(id)) ?? (await loose(id))
      if (found === undefined) throw new Error(`its commit ${id} is missing`)
      if (found.kind !== 'commit') throw new Error(`its object ${id} is no commit`)
      return parentsOf(found.content, idBytes * 2)
    },
  }
}

function inflated(bytes: Buffer, size: number): Buffer {
  try {
    return process.getBuiltinModule('node:zlib').inflateSync(bytes, { maxOutputLength: size + 1 })
  } catch (cause) {
    throw new Error('an object of it is damaged or too large', { cause })
  }
}

/** `tree <id>`, then a line for each parent. */
function parentsOf(content: Buffer, length: number): string[] {
  const parents: string[] = []
  const line = 'parent '.length + length + 1
  for (let at = 'tree '.length + length + 1; content.toString('latin1', at, at + 7) === 'parent '; at += line) {
    parents.push(content.toString('latin1', at + 7, at + line - 1))
  }
  return parents
}
