/** What `recorder.c` noted, and the disks that a loss of power can leave of it. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Random } from '../../../src/simulation/random.js'

/** One change, in the order of the machine. `inode` stays with a file that gets another name. */
type Change =
  | { readonly kind: 'create'; readonly inode: number; readonly path: string }
  | { readonly kind: 'write'; readonly inode: number; readonly path: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'cut'; readonly inode: number; readonly path: string; readonly length: number }
  | { readonly kind: 'sync'; readonly inode: number; readonly path: string; readonly began: number }
  | { readonly kind: 'rename' | 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }

export interface Recording {
  readonly changes: readonly Change[]
  /** How many changes were noted when the record was `size` bytes long. */
  countAt(size: number): number
}

const HEAD = 23

/** Files below some folders as they are, as if they had been written and synced before everything else. */
export function standing(roots: readonly string[]): readonly Change[] {
  const paths = roots.flatMap((root) => readdirSync(root, { recursive: true, withFileTypes: true }))
  const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const changes = files.flatMap((path): Change[] => {
    const inode = inodeOf(path)
    return [
      { kind: 'create', inode, path },
      { kind: 'write', inode, path, offset: 0, bytes: readFileSync(path) },
    ]
  })
  const began = changes.length
  return [
    ...changes,
    ...[...files, ...files.map((path) => dirname(path))].map((path): Change => ({ kind: 'sync', inode: inodeOf(path), path, began })),
  ]
}

const inodeOf = (path: string) => statSync(path).ino

/** A record that is cut off at its end is read up to there: its program was killed. `before` are changes that came first. */
export function readRecording(bytes: Buffer, before: readonly Change[]): Recording {
  const changes: Change[] = [...before]
  const ends: number[] = before.map(() => 0)
  const begun = new Map<number, number>()
  for (let at = 0; at + HEAD <= bytes.length; ) {
    const name = bytes.readUInt16LE(at + 21)
    const end = at + HEAD + name + bytes.readUInt32LE(at + 17)
    if (end > bytes.length) break
    const path = bytes.toString('utf8', at + HEAD, at + HEAD + name)
    const change = changeOf(
      String.fromCharCode(bytes[at] ?? 0),
      {
        inode: Number(bytes.readBigUInt64LE(at + 1)),
        offset: Number(bytes.readBigUInt64LE(at + 9)),
        path,
        bytes: bytes.subarray(at + HEAD + name, end),
      },
      begun,
      changes.length,
    )
    at = end
    if (change === undefined) continue
    changes.push(change)
    ends.push(end)
  }
  return { changes, countAt: (size) => ends.filter((end) => end <= size).length }
}

interface Noted {
  readonly inode: number
  readonly offset: number
  readonly path: string
  readonly bytes: Buffer
}

function changeOf(kind: string, { inode, offset, path, bytes }: Noted, begun: Map<number, number>, count: number): Change | undefined {
  switch (kind) {
    case 'C':
      return { kind: 'create', inode, path }
    case 'W':
      return { kind: 'write', inode, path, offset, bytes }
    case 'T':
      return { kind: 'cut', inode, path, length: offset }
    case 'B':
      begun.set(offset, count)
      return undefined
    case 'E':
      return { kind: 'sync', inode, path, began: begun.get(offset) ?? 0 }
    case 'N':
      return { kind: 'rename', path, to: bytes.toString() }
    case 'L':
      return { kind: 'link', path, to: bytes.toString() }
    case 'U':
      return { kind: 'remove', path }
    default:
      throw new Error(`a record of unknown kind ${JSON.stringify(kind)}`)
  }
}

const SECTOR = 512

/** A file: its changes by number, and those that a sync made durable. */
interface File {
  readonly changes: { readonly number: number; readonly change: Extract<Change, { kind: 'write' | 'cut' }> }[]
  durable: number
}

/** Names of one folder change in order; a loss of power keeps a prefix that is no shorter than what a sync of the folder made durable. */
interface Folder {
  readonly changes: { readonly number: number; readonly name: string; readonly file: File | undefined }[]
  durable: number
}

/** Content of every file after `count` changes: by name, all of it there or, with `random`, what a loss of power leaves. */
export function diskAfter({ changes }: Recording, count: number, random?: Random): Map<string, Buffer> {
  const { folders } = replayed(changes.slice(0, count))
  const disk = new Map<string, Buffer>()
  for (const [folder, { changes: names, durable }] of folders) {
    const synced = names.filter(({ number }) => number < durable).length
    const kept = random === undefined ? names.length : synced + random.below(names.length - synced + 1)
    const files = new Map<string, File>()
    for (const { name, file } of names.slice(0, kept)) {
      if (file === undefined) files.delete(name)
      else files.set(name, file)
    }
    for (const [name, file] of files) disk.set(join(folder, name), contentOf(file, random))
  }
  return disk
}

function replayed(changes: readonly Change[]) {
  const files = new Map<number, File>()
  const folders = new Map<string, Folder>()
  const names = new Map<string, File>()
  const put = (number: number, path: string, file: File | undefined) => {
    const folder = dirname(path)
    const known = folders.get(folder) ?? { changes: [], durable: 0 }
    folders.set(folder, known)
    known.changes.push({ number, name: path.slice(folder.length + 1), file })
    if (file === undefined) names.delete(path)
    else names.set(path, file)
  }
  changes.forEach((change, number) => {
    switch (change.kind) {
      case 'create': {
        const file: File = { changes: [], durable: 0 }
        files.set(change.inode, file)
        return put(number, change.path, file)
      }
      case 'rename':
        put(number, change.to, names.get(change.path))
        return put(number, change.path, undefined)
      case 'link':
        return put(number, change.to, names.get(change.path))
      case 'remove':
        return put(number, change.path, undefined)
      case 'sync': {
        const file = files.get(change.inode)
        const folder = folders.get(change.path)
        if (file !== undefined && names.has(change.path)) file.durable = Math.max(file.durable, change.began)
        else if (folder !== undefined) folder.durable = Math.max(folder.durable, change.began)
        return
      }
      default:
        files.get(change.inode)?.changes.push({ number, change })
    }
  })
  return { folders }
}

/** What was synced is there; of each later write, each sector may be, or not. */
function contentOf({ changes, durable }: File, random: Random | undefined): Buffer {
  const content = Buffer.alloc(
    Math.max(0, ...changes.map(({ change }) => (change.kind === 'cut' ? 0 : change.offset + change.bytes.length))),
  )
  let size = 0
  for (const { number, change } of changes) {
    const isSure = random === undefined || number < durable
    if (change.kind === 'cut') {
      if (!isSure && !random.isOneIn(2)) continue
      content.fill(0, change.length)
      size = change.length
      continue
    }
    for (let from = 0; from < change.bytes.length; ) {
      const at = change.offset + from
      const length = Math.min(SECTOR - (at % SECTOR), change.bytes.length - from)
      if (isSure || random.isOneIn(2)) {
        size = Math.max(size, at + length)
        change.bytes.copy(content, at, from, from + length)
      }
      from += length
    }
  }
  return content.subarray(0, size)
}

/** Writes a disk, whose names are below `from`, below `to`. */
export function layOut(disk: ReadonlyMap<string, Buffer>, from: string, to: string): void {
  for (const [path, content] of disk) {
    const file = join(to, relative(from, path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { mode: 0o600 })
  }
}
