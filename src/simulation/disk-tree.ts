/** What lies on a disk in memory, by path, and who hears of its changes (`disk.ts`). */
import { dirname, join } from 'node:path'

export interface Node {
  readonly kind: 'file' | 'directory' | 'link'
  readonly data: Uint8Array
  readonly mode: number
  readonly changedMs: number
  /** Counts changes of the whole disk. */
  readonly version: number
}

type TreeListener = (paths: readonly string[]) => void
type FolderListener = (name: string | undefined, isMove: boolean) => void

export interface DiskTree {
  readonly nodes: ReadonlyMap<string, Node>
  /** Listeners of a directory with all that is below it, and of one alone; each with its directory. */
  readonly trees: Map<TreeListener, string>
  readonly folders: Map<FolderListener, string>
  put(path: string, kind: Node['kind'], data: Uint8Array, mode: number): void
  makeDirectory(path: string, mode?: number): void
  write(path: string, data: Uint8Array | string, mode?: number): void
  /** Follows links, also where nothing is at the end. */
  resolve(path: string): string
  /** Sorted. */
  below(path: string): string[]
  remove(path: string): void
  rename(from: string, to: string): void
}

const NOTHING = new Uint8Array()
const HOPS = 40
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const ROOT = (changedMs: number): Node => ({ kind: 'directory', data: NOTHING, mode: 0o755, changedMs, version: 0 })

export function createTree(nodes: Map<string, Node>, now: () => number): DiskTree {
  const trees = new Map<TreeListener, string>()
  const folders = new Map<FolderListener, string>()
  let version = Math.max(0, ...[...nodes.values()].map((node) => node.version))

  /** Who begins to listen because of it does not hear it. */
  function tell(path: string, isMove: boolean): void {
    const ofTrees = [...trees]
    for (const [listener, directory] of ofTrees) if (path === directory || path.startsWith(`${directory}/`)) listener([path])
    const folder = dirname(path)
    const ofFolders = [...folders]
    for (const [listener, directory] of ofFolders) if (directory === folder) listener(nameOf(path), isMove)
  }

  function put(path: string, kind: Node['kind'], data: Uint8Array, mode: number): void {
    nodes.set(path, { kind, data, mode, changedMs: now(), version: ++version })
    tell(path, false)
  }

  function makeDirectory(path: string, mode = 0o755): void {
    const known = nodes.get(path)
    if (known?.kind === 'directory') return
    if (known !== undefined) throw fault('ENOTDIR', path)
    makeDirectory(dirname(path))
    put(path, 'directory', NOTHING, mode)
  }

  function resolve(path: string, hops = 0): string {
    const bare = join(path).replace(/(?<=.)\/$/, '')
    if (bare === '/') return bare
    const above = resolve(dirname(bare), hops)
    const whole = join(above, nameOf(bare))
    const node = nodes.get(whole)
    if (node?.kind !== 'link') return whole
    if (hops > HOPS) throw fault('ELOOP', path)
    return resolve(join(above, decoder.decode(node.data)), hops + 1)
  }

  function below(path: string): string[] {
    const start = path === '/' ? '/' : `${path}/`
    return [...nodes.keys()].filter((other) => other !== path && other.startsWith(start)).toSorted()
  }

  return {
    nodes,
    trees,
    folders,
    put,
    makeDirectory,
    resolve,
    below,
    write(path, data, mode) {
      makeDirectory(dirname(path))
      const known = nodes.get(path)
      if (known?.kind === 'directory') throw fault('EISDIR', path)
      const bytes = typeof data === 'string' ? encoder.encode(data) : data.slice()
      put(path, 'file', bytes, mode ?? (known?.kind === 'file' ? known.mode : 0o644))
    },
    remove(path) {
      const node = nodes.get(path)
      if (node === undefined) return
      if (node.kind === 'directory' && below(path).length > 0) throw fault('ENOTEMPTY', path)
      nodes.delete(path)
      tell(path, true)
    },
    rename(from, to) {
      for (const path of [from, ...below(from)]) {
        const node = nodes.get(path)
        if (node === undefined) throw fault('ENOENT', path)
        nodes.delete(path)
        nodes.set(`${to}${path.slice(from.length)}`, { ...node, changedMs: now(), version: ++version })
      }
      tell(from, true)
      tell(to, true)
    },
  }
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function fault(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
