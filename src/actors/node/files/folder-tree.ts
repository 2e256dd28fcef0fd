/**
 * What is known of folders, by their paths. Pure.
 *
 * I1 A folder is there as long as the one above it, unless it is the root.
 * I2 Giving up a folder costs what is given up, however many others there are: whoever may write in a tree makes and removes thousands.
 */
export interface FolderTree<T> {
  readonly size: number
  has(path: string): boolean
  /** Of a folder that is not there yet; the one above it is, or it is the root. */
  add(path: string, value: T): void
  /** Removes a folder and all below it; answers what was known of them. */
  drop(path: string): readonly T[]
  paths(): IterableIterator<string>
}

export interface Folder<T> {
  readonly value: T
  readonly below: Set<string>
}

export function createFolderTree<T>(
  above: (path: string) => string,
  folders: Pick<Map<string, Folder<T>>, 'get' | 'has' | 'set' | 'delete' | 'size' | 'keys'> = new Map(),
): FolderTree<T> {
  return {
    get size() {
      return folders.size
    },
    has: (path) => folders.has(path),
    add(path, value) {
      folders.set(path, { value, below: new Set() })
      folders.get(above(path))?.below.add(path)
    },
    drop(path) {
      folders.get(above(path))?.below.delete(path)
      const dropped: T[] = []
      const open = [path]
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        const folder = folders.get(at)
        if (folder === undefined) continue
        folders.delete(at)
        dropped.push(folder.value)
        for (const each of folder.below) open.push(each)
      }
      return dropped
    },
    paths: () => folders.keys(),
  }
}
