/**
 * What is known of folders, by their paths. Pure.
 *
 * I1 Giving up a folder costs what is given up, and the steps to the root, however many others there are: whoever may write in a tree makes and
 *    removes thousands.
 * I2 Nothing stays of what was given up.
 */
export interface FolderTree<T> {
  /** Of folders of which something is known. */
  readonly size: number
  get(path: string): T | undefined
  set(path: string, value: T): void
  /** What is known of the folder and of all below it. */
  within(path: string): readonly T[]
  /** Forgets the folder, and nothing below it. */
  delete(path: string): void
  /** Forgets the folder and all below it; answers what was known of them. */
  drop(path: string): readonly T[]
  entries(): IterableIterator<[path: string, value: T]>
}

/** A folder that is known, or lies above one. */
export interface Folder<T> {
  value: T | undefined
  readonly below: Set<string>
}

type Folders<T> = Pick<Map<string, Folder<T>>, 'get' | 'set' | 'delete' | 'entries'>

/** `above`: the path of the folder that holds another; of the root itself. */
export function createFolderTree<T extends object>(above: (path: string) => string, folders: Folders<T> = new Map()): FolderTree<T> {
  let size = 0

  function join(path: string): void {
    for (let below = path, at = above(path); at !== below; below = at, at = above(at)) {
      const folder = folders.get(at)
      if (folder === undefined) folders.set(at, { value: undefined, below: new Set([below]) })
      else {
        folder.below.add(below)
        return
      }
    }
  }

  function gathered(path: string, onFolder: (path: string) => unknown): readonly T[] {
    const values: T[] = []
    const open = [path]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const folder = folders.get(at)
      if (folder === undefined) continue
      onFolder(at)
      if (folder.value !== undefined) values.push(folder.value)
      for (const each of folder.below) open.push(each)
    }
    return values
  }

  /** What is above a folder that has gone, as far as it was there for its sake. */
  function part(path: string): void {
    for (let below = path, at = above(path); at !== below; below = at, at = above(at)) {
      const folder = folders.get(at)
      folder?.below.delete(below)
      if (folder === undefined || folder.below.size > 0 || folder.value !== undefined) return
      folders.delete(at)
    }
  }

  return {
    get size() {
      return size
    },
    get: (path) => folders.get(path)?.value,
    set(path, value) {
      const known = folders.get(path)
      if (known?.value === undefined) size++
      if (known !== undefined) known.value = value
      else {
        folders.set(path, { value, below: new Set() })
        join(path)
      }
    },
    delete(path) {
      const folder = folders.get(path)
      if (folder?.value === undefined) return
      size--
      folder.value = undefined
      if (folder.below.size > 0) return
      folders.delete(path)
      part(path)
    },
    within: (path) => gathered(path, () => undefined),
    drop(path) {
      const dropped = gathered(path, (at) => folders.delete(at))
      size -= dropped.length
      part(path)
      return dropped
    },
    *entries() {
      for (const [path, { value }] of folders.entries()) if (value !== undefined) yield [path, value]
    },
  }
}
