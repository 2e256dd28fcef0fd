import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createHistories } from '../../../src/platform/git/objects/history.js'
import { readHead } from '../../../src/platform/git/refs.js'
import { type Repository, repositoryAt } from '../../../src/platform/git/repository.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { type Checkout, clone, makeCheckout, openCheckout, temporary } from './checkout.js'

const files = createNodeFiles()

async function repositoryOf({ directory }: Checkout): Promise<Repository> {
  const repository = await repositoryAt(files, directory)
  if (repository === undefined) throw new Error(`${directory} is no repository`)
  return repository
}

const first = async (checkout: Checkout) => createHistories(files).first(await repositoryOf(checkout))
const git = ({ git: run }: Checkout) => run('rev-list', '--max-parents=0', 'HEAD').trim().split('\n').toSorted()[0]
const head = async (checkout: Checkout) => readHead(files, await repositoryOf(checkout))

/** Two roots, a merge of two and one of three, and enough text in messages that packs hold deltas. */
function grown(checkout: Checkout): Checkout {
  const commit = (message: string) => checkout.git('commit', '--quiet', '--allow-empty', '--message', message)
  const text = 'a long message that is nearly the same every time\n'.repeat(20)
  for (let number = 0; number < 12; number++) commit(`${text}${number}`)
  checkout.git('checkout', '--quiet', '--orphan', 'other')
  commit('another beginning')
  checkout.git('checkout', '--quiet', '-b', 'third', 'main')
  commit('third')
  checkout.git('checkout', '--quiet', 'main')
  commit('on main')
  const tree = checkout.git('rev-parse', 'HEAD^{tree}').trim()
  const merge = checkout.git('commit-tree', tree, '-p', 'main', '-p', 'other', '-p', 'third', '-m', 'three').trim()
  checkout.git('reset', '--quiet', '--hard', merge)
  return checkout
}

describe('the first commit of a history is the one git names', () => {
  const shapes: readonly [string, () => Checkout][] = [
    ['loose objects', () => grown(makeCheckout())],
    ['SHA-256', () => grown(makeCheckout(undefined, '--object-format=sha256'))],
    ['a pack with deltas', () => shaped('repack', '-adfq', '--depth=50', '--window=200')],
    ['a pack with deltas against ids', () => shaped('-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq')],
    ['packed refs and a commit graph', () => shaped('gc', '--quiet')],
    ['a commit graph behind the head', () => behind(shaped('commit-graph', 'write', '--reachable'))],
    ['a chain of commit graphs', () => chained(shaped('commit-graph', 'write', '--reachable', '--split'))],
    ['a commit graph in SHA-256', () => withGraph(grown(makeCheckout(undefined, '--object-format=sha256')))],
    ['a detached head', () => shaped('checkout', '--quiet', '--detach', 'HEAD~3')],
    ['a shallow clone', () => shallow()],
    ['a replaced commit', () => replaced()],
    ['a replaced commit in packed refs', () => packedRefs(replaced())],
    ['a linked worktree', () => linked()],
  ]
  test.each(shapes)('%s', async (_, make) => {
    const checkout = make()
    const expected = git(checkout)
    expect(expected).toMatch(/^[0-9a-f]{40,64}$/)
    expect(await first(checkout)).toBe(expected)
  })

  function shaped(...command: readonly string[]): Checkout {
    const checkout = grown(makeCheckout())
    checkout.git(...command)
    return checkout
  }

  function withGraph(checkout: Checkout): Checkout {
    checkout.git('commit-graph', 'write', '--reachable')
    return checkout
  }

  function behind(checkout: Checkout): Checkout {
    checkout.git('commit', '--quiet', '--allow-empty', '--message', 'later')
    return checkout
  }

  function chained(checkout: Checkout): Checkout {
    behind(checkout).git('commit-graph', 'write', '--reachable', '--split=no-merge')
    return checkout
  }

  function packedRefs(checkout: Checkout): Checkout {
    checkout.git('pack-refs', '--all')
    return checkout
  }

  function shallow(): Checkout {
    const from = grown(makeCheckout())
    from.git('checkout', '--quiet', 'third')
    const to = join(temporary(), 'shallow')
    from.git('clone', '--quiet', '--depth=2', `file://${from.directory}`, to)
    return openCheckout(to)
  }

  function replaced(): Checkout {
    const checkout = makeCheckout()
    for (const message of ['one', 'two', 'three']) checkout.git('commit', '--quiet', '--allow-empty', '--message', message)
    checkout.git('replace', '--graft', 'HEAD~1')
    return withGraph(checkout)
  }

  function linked(): Checkout {
    const to = join(temporary(), 'linked')
    grown(makeCheckout()).git('worktree', 'add', '--quiet', '-b', 'own', to)
    return openCheckout(to)
  }
})

describe('where the head stands', () => {
  test('is a branch, also before its first commit, or a commit', async () => {
    const checkout = makeCheckout()
    expect(await head(checkout)).toEqual({ branch: 'main', commit: undefined })
    expect(await first(checkout)).toBeUndefined()
    checkout.git('commit', '--quiet', '--allow-empty', '--message', 'one')
    const id = checkout.git('rev-parse', 'HEAD').trim()
    expect(await head(checkout)).toEqual({ branch: 'main', commit: id })
    checkout.git('checkout', '--quiet', '-b', 'a/deep/branch')
    checkout.git('pack-refs', '--all')
    expect(await head(checkout)).toEqual({ branch: 'a/deep/branch', commit: id })
    checkout.git('checkout', '--quiet', '--detach')
    expect(await head(checkout)).toEqual({ branch: undefined, commit: id })
  })

  test.each([
    ['ref: refs/heads/../../../../etc/passwd\n', 'its HEAD names no ref'],
    ['ref: /etc/passwd\n', 'its HEAD names no ref'],
    ['ref: refs/heads/.invalid\n', 'its refs are kept in reftables'],
    ['ref: HEAD\n', 'its HEAD leads round in circles'],
    ['root:x:0:0\n', 'its ref HEAD cannot be read'],
  ])('%j is refused', async (text, sentence) => {
    const checkout = makeCheckout()
    checkout.write('.git/HEAD', text)
    await expect(head(checkout)).rejects.toThrow(sentence)
  })
})

describe('a history that cannot be read without git says why', () => {
  test('objects that are kept elsewhere', async () => {
    await expect(first(clone(grown(makeCheckout()), '--shared'))).rejects.toThrow(/its commit [0-9a-f]{40} is missing/)
  })

  test('objects that a partial clone would fetch', async () => {
    const checkout = makeCheckout()
    checkout.write('.git/refs/heads/main', `${'1'.repeat(40)}\n`)
    checkout.git('config', 'remote.origin.promisor', 'true')
    await expect(first(checkout)).rejects.toThrow(`its commit ${'1'.repeat(40)} is missing`)
  })

  test('an old index of a pack, a damaged pack, a head that is no commit', async () => {
    const old = grown(makeCheckout())
    old.git('-c', 'pack.indexVersion=1', 'repack', '-adq')
    await expect(first(old)).rejects.toThrow('another version than 2')

    const damaged = makeCheckout()
    damaged.write('.git/objects/11/11111111111111111111111111111111111111', 'nothing')
    damaged.write('.git/refs/heads/main', `${'1'.repeat(40)}\n`)
    await expect(first(damaged)).rejects.toThrow('damaged or too large')

    const blob = makeCheckout()
    blob.write('a', 'a')
    blob.write('.git/refs/heads/main', blob.git('hash-object', '-w', blob.path('a')))
    await expect(first(blob)).rejects.toThrow('is no commit')
  })

  test('an object that unpacks to more than any commit has', async () => {
    const checkout = makeCheckout()
    const { deflateSync } = await import('node:zlib')
    const directory = join(checkout.directory, '.git/objects/11')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, '1'.repeat(38)), deflateSync(Buffer.alloc(64 * 1024 * 1024)))
    checkout.write('.git/refs/heads/main', `${'1'.repeat(40)}\n`)
    await expect(first(checkout)).rejects.toThrow('damaged or too large')
  })
})
