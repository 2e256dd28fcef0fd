/**
 * A disk in memory. Every operation is done when it is asked for, and is told in a microtask: nothing of it depends on the machine.
 *
 * I1 What settled is on the disk, and what a sink wrote before it was closed is not: `copy` is what a loss of power leaves.
 * I2 A watcher hears of a change in the turn of it.
 * I3 Nobody else could write here.
 * I4 What fails has changed nothing.
 */
import { dirname, join } from 'node:path'
import { SvcError } from '../protocol/errors.js'
import type { DirectoryEntry, EntryStat, Files, FileStat, TreeEntry } from '../ports/effects.js'
import { createTree, type DiskTree, fault, nameOf, type Node, ROOT } from './disk-tree.js'

export interface Disk extends Files {
  /** Makes or replaces a file now, with the directories above it. */
  place(path: string, text: string): void
  /** What is kept when all power is lost at this moment; `now` as below. */
  copy(now: () => number): Disk
  /** From now on whatever writes fails so, and with `EIO` whatever reads a file; undefined = all goes well again. `place` always does. */
  fail(how: DiskFault | undefined): void
}

/** Full, broken, or mounted so that nothing can be written. */
export type DiskFault = 'ENOSPC' | 'EIO' | 'EROFS'

/** What a disk suffers from at the moment. */
interface Suffering {
  how: DiskFault | undefined
}

const CHUNK = 64 * 1024
const ROOM = 2 ** 40
const encoder = new TextEncoder()

/** `now`: wall clock, Unix ms. `directories` are there from the start. */
export function createDisk(now: () => number, directories: readonly string[] = []): Disk {
  const tree = createTree(new Map([['/', ROOT(now())]]), now)
  for (const path of directories) tree.makeDirectory(join(path))
  return diskOf(tree)
}

function diskOf(tree: DiskTree): Disk {
  const suffering: Suffering = { how: undefined }
  return {
    fail: (how) => void (suffering.how = how),
    place: (path, text) => tree.write(path, text),
    copy: (now) => diskOf(createTree(new Map(tree.nodes), now)),
    ...readingOf(tree, suffering),
    ...writingOf(tree, suffering),
    ...watchingOf(tree),
  }
}

type Reading =
  | 'realPath'
  | 'stat'
  | 'entry'
  | 'readLink'
  | 'exposure'
  | 'readDirectory'
  | 'room'
  | 'read'
  | 'readRange'
  | 'readChunks'
  | 'walk'

function readingOf({ nodes, resolve, below }: DiskTree, suffering: Suffering): Pick<Files, Reading> {
  function file(path: string): Uint8Array {
    if (suffering.how === 'EIO') throw fault('EIO', path)
    const node = nodes.get(resolve(path))
    if (node === undefined) throw fault('ENOENT', path)
    if (node.kind !== 'file') throw new SvcError('request.unprocessable', `${path} is not a regular file.`)
    return node.data
  }

  return {
    async realPath(path) {
      const real = resolve(path)
      if (!nodes.has(real)) throw fault('ENOENT', path)
      return real
    },
    stat: async (path) => statOf(nodes.get(resolve(path))),
    entry: async (path) => entryOf(nodes.get(path)),
    async readLink(path) {
      const node = nodes.get(path)
      return node?.kind === 'link' ? new TextDecoder().decode(node.data) : undefined
    },
    exposure: async () => undefined,
    async readDirectory(path) {
      const real = resolve(path)
      if (nodes.get(real)?.kind !== 'directory') throw fault('ENOENT', path)
      return below(real).flatMap((other): DirectoryEntry[] => {
        const node = nodes.get(other)
        return node !== undefined && dirname(other) === real ? [{ name: nameOf(other), kind: node.kind }] : []
      })
    },
    room: async () => ({ free: ROOM, total: ROOM }),
    async read(path, maxBytes) {
      const data = file(path)
      if (data.length > maxBytes) throw new SvcError('request.unprocessable', `${path} is larger than ${maxBytes} bytes.`)
      return data.slice()
    },
    readRange: async (path, offset, length) => file(path).slice(offset, offset + length),
    async *readChunks(path, signal) {
      const data = file(path)
      for (let at = 0; at < data.length; at += CHUNK) {
        signal.throwIfAborted()
        yield data.slice(at, at + CHUNK)
      }
    },
    async *walk(directory, { maxEntries }) {
      const names = below(directory)
      if (names.length > maxEntries) throw new SvcError('request.unprocessable', `${directory} has more than ${maxEntries} entries.`)
      for (const path of names) {
        const node = nodes.get(path)
        if (node !== undefined && node.kind !== 'directory') yield treeEntry(path.slice(directory.length + 1), node)
      }
    },
  }
}

type Writing = 'makeLink' | 'writeAtomic' | 'makeDirectory' | 'remove' | 'rename' | 'createFile' | 'removeTree'

function writingOf(tree: DiskTree, suffering: Suffering): Pick<Files, Writing> {
  /** I4 */
  function refuse(path: string): void {
    if (suffering.how !== undefined) throw fault(suffering.how, path)
  }

  return {
    async makeLink(path, target) {
      refuse(path)
      tree.makeDirectory(dirname(path))
      tree.put(path, 'link', encoder.encode(target), 0o777)
    },
    async writeAtomic(path, data, options) {
      refuse(path)
      tree.write(path, data, options?.mode)
    },
    async makeDirectory(path, options) {
      if (tree.nodes.get(path)?.kind !== 'directory') refuse(path)
      tree.makeDirectory(path, options?.mode)
    },
    async remove(path) {
      if (suffering.how !== 'ENOSPC') refuse(path)
      tree.remove(path)
    },
    async rename(from, to) {
      if (suffering.how !== 'ENOSPC') refuse(from)
      tree.rename(from, to)
    },
    async createFile(path, options) {
      refuse(path)
      if (tree.nodes.has(path)) throw fault('EEXIST', path)
      const chunks: Uint8Array[] = []
      tree.put(path, 'file', new Uint8Array(), options?.mode ?? 0o600)
      return {
        async write(chunk) {
          refuse(path)
          chunks.push(chunk.slice())
        },
        async close() {
          refuse(path)
          tree.write(path, Buffer.concat(chunks)) // I1
        },
        discard: async () => tree.remove(path),
      }
    },
    async removeTree(path) {
      if (suffering.how !== 'ENOSPC') refuse(path)
      for (const each of [...tree.below(path).toReversed(), path]) tree.remove(each)
    },
  }
}

function watchingOf({ nodes, trees, folders }: DiskTree): Pick<Files, 'watch' | 'watchFolder' | 'tellsAtOnce'> {
  return {
    async watch(directory, onChange) {
      if (nodes.get(directory)?.kind !== 'directory') return undefined
      const listener = (paths: readonly string[]) => onChange(paths)
      trees.set(listener, directory)
      return () => void trees.delete(listener)
    },
    watchFolder(path, onChange) {
      if (nodes.get(path)?.kind !== 'directory') return 'absent'
      const listener = (name: string | undefined, isMove: boolean) => onChange(name, isMove)
      folders.set(listener, path)
      return () => void folders.delete(listener)
    },
    tellsAtOnce: true,
  }
}

const identityOf = (node: Node) => `played:${node.version}:${node.data.length}`

function statOf(node: Node | undefined): FileStat | undefined {
  if (node === undefined) return undefined
  const { data, changedMs, mode } = node
  const kind = node.kind === 'link' ? 'other' : node.kind
  return { kind, size: data.length, modifiedMs: changedMs, identity: identityOf(node), mode, exposure: undefined }
}

function entryOf(node: Node | undefined): EntryStat | undefined {
  if (node === undefined) return undefined
  const { kind, data, mode, changedMs } = node
  return { kind, size: data.length, identity: identityOf(node), mode, changedMs }
}

function treeEntry(path: string, node: Node): TreeEntry {
  const { data, changedMs, mode } = node
  return {
    path,
    kind: node.kind === 'link' ? 'link' : 'file',
    size: data.length,
    identity: identityOf(node),
    changedMs,
    executable: (mode & 0o100) !== 0,
    async *chunks() {
      yield data.slice()
    },
  }
}
