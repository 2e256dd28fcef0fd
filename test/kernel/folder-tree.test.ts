/** What is known of a tree of folders is given up at the price of what is given up (threat-model X1, §7). */
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { createFolderTree, type Folder } from '../../src/kernel/folder-tree.js'

interface Known {
  readonly path: string
}

const WIDTH = 100
const inFolders = (outer: string, count: number) => Array.from({ length: count }, (_, index) => `${outer}/${index}`)

/** Folders, and folders in these. Counts what is looked up. */
function grown(width: number, isEachKnown = true) {
  const folders = new Map<string, Folder<Known>>()
  let looked = 0
  const tree = createFolderTree<Known>(dirname, {
    get: (path) => (looked++, folders.get(path)),
    set: (path, folder) => folders.set(path, folder),
    delete: (path) => (looked++, folders.delete(path)),
    entries: () => ((looked += folders.size), folders.entries()),
  })
  const outer = inFolders('/a/r', width)
  const inner = outer.flatMap((path) => inFolders(path, width))
  const paths = isEachKnown ? ['/a/r', ...outer, ...inner] : inner
  for (const path of paths) tree.set(path, { path })
  return {
    tree,
    folders,
    paths,
    cost(work: () => void) {
      looked = 0
      work()
      return looked
    },
  }
}

const pathsOf = (known: readonly Known[]) => known.map(({ path }) => path).toSorted()

test.each([true, false])(
  'a folder goes with all below it, and with nothing else, whatever names begin alike (those above known: %s)',
  (isEachKnown) => {
    const { tree, folders } = grown(20, isEachKnown)
    const own = isEachKnown ? ['/a/r/1'] : []
    expect(pathsOf(tree.drop('/a/r/1'))).toEqual([...own, ...inFolders('/a/r/1', 20)].toSorted())
    expect(pathsOf(tree.within('/a/r/2'))).toEqual([...(isEachKnown ? ['/a/r/2'] : []), ...inFolders('/a/r/2', 20)].toSorted())
    expect([tree.within('/a/r/1'), tree.within('/a/r/2/0')]).toEqual([[], [{ path: '/a/r/2/0' }]])
    expect(tree.get('/a/r/1/0')).toBeUndefined()
    expect(tree.get('/a/r/10/0')).toEqual({ path: '/a/r/10/0' })
    expect(tree.drop('/a/r/1')).toEqual([])
    tree.set('/a/r/1', { path: 'again' })
    expect(tree.drop('/a/r/1')).toEqual([{ path: 'again' }])
    expect([...tree.entries()]).toHaveLength(tree.size)
    expect(tree.drop('/a')).toHaveLength(19 * (isEachKnown ? 21 : 20) + (isEachKnown ? 1 : 0))
    expect([tree.size, folders.size], 'nothing stays').toEqual([0, 0])
  },
)

test('one folder is forgotten without those below it, and nothing stays above the last', () => {
  const { tree, folders, paths } = grown(5)
  tree.delete('/a/r/1')
  tree.delete('/a/r/1')
  tree.delete('/nowhere')
  expect([tree.get('/a/r/1'), tree.get('/a/r/1/0'), tree.size]).toEqual([undefined, { path: '/a/r/1/0' }, paths.length - 1])
  expect(pathsOf(tree.drop('/a/r/1'))).toEqual(inFolders('/a/r/1', 5))
  for (const path of paths) tree.delete(path)
  expect([tree.size, folders.size]).toEqual([0, 0])
})

test.each([true, false])(
  'removing a tree from its leaves upwards looks at each folder a few times (those above known: %s)',
  (isEachKnown) => {
    const costOf = (width: number) => {
      const { tree, paths, cost } = grown(width, isEachKnown)
      return cost(() => paths.toSorted((a, b) => b.length - a.length).forEach((path) => tree.drop(path))) / paths.length
    }
    expect(costOf(WIDTH)).toBeLessThan(8)
    expect(costOf(WIDTH)).toBeCloseTo(costOf(WIDTH / 2), 0)
  },
)
