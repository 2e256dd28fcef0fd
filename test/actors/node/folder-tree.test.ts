/** What is watched of a tree of folders is given up at the price of what is given up (threat-model X1, §7). */
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createFolderTree, type Folder } from '../../../src/actors/node/files/folder-tree.js'

const WIDTH = 100

/** A root with folders, and folders in these; the value of each is its path. Counts what is looked up. */
function grown(width: number) {
  const folders = new Map<string, Folder<string>>()
  let looked = 0
  const counting = {
    get: (path: string) => (looked++, folders.get(path)),
    has: (path: string) => (looked++, folders.has(path)),
    set: (path: string, folder: Folder<string>) => folders.set(path, folder),
    delete: (path: string) => (looked++, folders.delete(path)),
    get size() {
      return folders.size
    },
    keys: () => ((looked += folders.size), folders.keys()),
  }
  const tree = createFolderTree<string>(dirname, counting)
  tree.add('/r', '/r')
  for (let outer = 0; outer < width; outer++) {
    tree.add(`/r/${outer}`, `/r/${outer}`)
    for (let inner = 0; inner < width; inner++) tree.add(`/r/${outer}/${inner}`, `/r/${outer}/${inner}`)
  }
  return {
    tree,
    cost(work: () => void) {
      looked = 0
      work()
      return looked
    },
  }
}

test('a folder goes with all below it, and with nothing else, whatever names begin alike', () => {
  const { tree } = grown(20)
  expect(tree.drop('/r/1').toSorted()).toEqual(['/r/1', ...Array.from({ length: 20 }, (_, inner) => `/r/1/${inner}`)].toSorted())
  expect([tree.has('/r/1'), tree.has('/r/1/0'), tree.has('/r/10'), tree.has('/r/10/0')]).toEqual([false, false, true, true])
  expect(tree.drop('/r/1')).toEqual([])
  tree.add('/r/1', 'again')
  expect(tree.drop('/r/1')).toEqual(['again'])
  expect([...tree.paths()]).toHaveLength(tree.size)
  expect(tree.drop('/r')).toHaveLength(1 + 19 * 21)
  expect(tree.size).toBe(0)
})

test('removing a tree from its leaves upwards looks at each folder a few times', () => {
  const cost = (width: number) => {
    const { tree, cost: costOf } = grown(width)
    const paths = [...tree.paths()].toSorted((a, b) => b.length - a.length)
    return costOf(() => paths.forEach((path) => tree.drop(path))) / paths.length
  }
  expect(cost(WIDTH)).toBeLessThan(5)
  expect(cost(WIDTH)).toBeCloseTo(cost(WIDTH / 2), 0)
})
