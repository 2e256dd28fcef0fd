// Holds threat-model V2.
/** Files of a checkout are told from files somebody saved, in every shape a repository has (choice 16). */
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Origin } from '../../../src/ports/git.js'
import { createCheckouts } from '../../../src/platform/git/origin.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { type Checkout, clone, makeCheckout, openCheckout, temporary } from './checkout.js'

const FILE = '.svc/workflows/nightly.md'
const TEXT = '---\nid: nightly\n---\nDo it.\n'

const paths = {
  home: '/nonexistent',
  temp: '/tmp',
  config: '/nonexistent/.config/svc',
  state: '/nonexistent',
  cache: '/nonexistent',
  cwd: '/',
}
const checkouts = () => createCheckouts({ files: createNodeFiles(), paths })

async function origin(path: string, reader = checkouts()): Promise<Origin | undefined> {
  const canonical = realpathSync(path)
  const [found] = await reader.origins([{ path: canonical, bytes: readFileSync(canonical) }])
  return found
}

/** The times of a file are no help: it may have been copied, or touched. */
function touch(path: string): string {
  utimesSync(path, 1_000_000_000, 1_000_000_000)
  return path
}

function withFile(...init: readonly string[]): Checkout {
  const checkout = makeCheckout(temporary(), ...init)
  checkout.write(FILE, TEXT)
  for (let index = 0; index < 20; index++) checkout.write(`docs/deep/er/page-${index}.md`, `${index}\n`)
  checkout.commit()
  return checkout
}

const CHECKOUT = expect.objectContaining({ from: 'checkout', isCertain: true })
const UNKNOWN = expect.objectContaining({ from: 'checkout', isCertain: false })
const ELSEWHERE = { from: 'elsewhere' }

const shapes: readonly (readonly [string, () => Checkout])[] = [
  ['a plain repository', () => withFile()],
  ['a clone', () => clone(withFile())],
  ['a repository of SHA-256 objects', () => withFile('--object-format=sha256')],
  [
    'an index of version 3',
    () => {
      const checkout = withFile()
      checkout.git('update-index', '--skip-worktree', 'docs/deep/er/page-3.md')
      return checkout
    },
  ],
  [
    'an index of version 4',
    () => {
      const checkout = withFile()
      checkout.git('update-index', '--index-version', '4')
      return checkout
    },
  ],
  [
    'an index of version 4 of SHA-256 objects',
    () => {
      const checkout = withFile('--object-format=sha256')
      checkout.git('update-index', '--index-version', '4')
      return checkout
    },
  ],
  [
    'a split index',
    () => {
      const checkout = withFile()
      checkout.git('update-index', '--split-index')
      return checkout
    },
  ],
  [
    'a split index that has replaced the file',
    () => {
      const checkout = makeCheckout()
      checkout.write(FILE, 'before\n')
      checkout.commit()
      checkout.git('-c', 'splitIndex.maxPercentChange=100', 'update-index', '--split-index')
      checkout.write(FILE, TEXT)
      checkout.git('-c', 'splitIndex.maxPercentChange=100', 'update-index', FILE)
      return checkout
    },
  ],
  [
    'an index without a checksum',
    () => {
      const checkout = withFile()
      const index = checkout.path('.git/index')
      writeFileSync(index, Buffer.concat([readFileSync(index).subarray(0, -20), Buffer.alloc(20)])) // as index.skipHash does
      return checkout
    },
  ],
  [
    'a worktree of its own',
    () => {
      const main = withFile()
      const other = join(temporary(), 'other')
      main.git('worktree', 'add', '--quiet', '--detach', other)
      return openCheckout(other)
    },
  ],
  ['a repository whose parts are elsewhere', () => clone(withFile(), '--separate-git-dir', join(temporary(), 'parts'))],
  [
    'a submodule',
    () => {
      const outer = makeCheckout()
      outer.git('submodule', '--quiet', 'add', withFile().directory, 'inner')
      return openCheckout(join(outer.directory, 'inner'))
    },
  ],
  [
    'a repository that says where its worktree is',
    () => {
      const checkout = withFile()
      checkout.git('config', 'core.worktree', checkout.directory)
      return checkout
    },
  ],
  [
    'a sparse index that lists the file',
    () => {
      const checkout = withFile()
      checkout.git('sparse-checkout', 'set', '--cone', '--sparse-index', '.svc/workflows')
      return checkout
    },
  ],
]

describe('a repository', () => {
  test.each(shapes)('%s: the file is of the checkout until somebody writes to it', async (_, make) => {
    const checkout = make()
    const path = touch(checkout.path(FILE))
    expect(await origin(path)).toEqual(CHECKOUT)
    writeFileSync(path, `${TEXT}More.\n`)
    expect(await origin(path)).toEqual(ELSEWHERE)
    expect(await origin(checkout.write('.svc/workflows/own.md', TEXT))).toEqual(ELSEWHERE)
  })
})

describe('content that git converts at checkout', () => {
  const converted = (attributes: string, content: string, ...config: readonly string[]) => {
    const source = makeCheckout()
    source.write('.gitattributes', attributes)
    source.git('config', 'core.autocrlf', 'false')
    source.write(FILE, content)
    source.commit()
    return clone(source, ...config.flatMap((each) => ['--config', each]))
  }

  test.each([
    ['line ends of the configuration', '', TEXT, ['core.autocrlf=true']],
    ['line ends of an attribute', '*.md text eol=crlf\n', TEXT, []],
    ['a filter', '*.md filter=x\n', TEXT, ['filter.x.smudge=sed s/Do/Done/', 'filter.x.clean=sed s/Done/Do/']],
    ['a filter by a macro', '[attr]odd filter=x\n*.md odd\n', TEXT, ['filter.x.smudge=sed s/Do/Done/', 'filter.x.clean=sed s/Done/Do/']],
    ['its own id', '*.md ident\n', `${TEXT}$Id$\n`, []],
  ])('as %s counts as of the checkout', async (_, attributes, content, config) => {
    const checkout = converted(attributes, content, ...config)
    const path = checkout.path(FILE)
    expect(readFileSync(path, 'utf8')).not.toBe(content)
    expect(await origin(path)).toEqual(CHECKOUT)
    expect(await origin(touch(path))).toEqual(expect.objectContaining({ from: 'checkout' }))
  })

  test('counts as of the checkout when only some line ends were converted', async () => {
    const source = makeCheckout()
    source.write(FILE, '---\r\nid: nightly\n---\nDo it.\n')
    source.commit()
    source.write('.gitattributes', '*.md text eol=crlf\n')
    source.commit()
    const path = touch(clone(source).path(FILE))
    expect(readFileSync(path, 'utf8')).toBe(TEXT.replaceAll('\n', '\r\n'))
    expect(await origin(path)).toEqual(expect.objectContaining({ from: 'checkout' }))
  })

  test('does not matter for a file that the pattern cannot mean', async () => {
    const checkout = converted('*.png filter=lfs diff=lfs -text\n/vendor/* ident\n', TEXT)
    const path = touch(checkout.write(FILE, `${TEXT}More.\n`))
    expect(await origin(path)).toEqual(UNKNOWN) // "*" may mean every name
    checkout.write('.gitattributes', '*.png filter=lfs diff=lfs -text\n')
    expect(await origin(path)).toEqual(ELSEWHERE)
  })
})

describe('a file of a checkout', () => {
  test('is found through links to it, and under another spelling of its name', async () => {
    const checkout = makeCheckout()
    checkout.write('tools/flows/nightly.md', TEXT)
    mkdirSync(join(checkout.directory, '.svc'))
    symlinkSync('../tools/flows', join(checkout.directory, '.svc/workflows'))
    checkout.commit()
    expect(await origin(join(clone(checkout).directory, FILE))).toEqual(CHECKOUT)

    const spelled = withFile()
    const path = spelled.path(FILE)
    renameSync(path, join(dirname(path), 'Nightly.MD'))
    expect(await origin(join(dirname(path), 'Nightly.MD'))).toEqual(CHECKOUT)
  })

  test('is found in every repository around it, whatever lies between', async () => {
    const checkout = withFile()
    const path = checkout.path(FILE)
    makeCheckout(join(checkout.directory, '.svc'))
    makeCheckout(dirname(path))
    expect(await origin(path)).toEqual(CHECKOUT)
    mkdirSync(join(checkout.directory, '.git/kept'))
    writeFileSync(join(checkout.directory, '.git/kept/nightly.md'), TEXT)
    expect(await origin(join(checkout.directory, '.git/kept/nightly.md'))).toEqual(CHECKOUT)
  })

  test('is one also in a conflict, and is none once it is only meant to be added, or no longer listed', async () => {
    const checkout = withFile()
    const path = checkout.path(FILE)
    checkout.git('checkout', '--quiet', '-b', 'other')
    checkout.write(FILE, `${TEXT}Theirs.\n`)
    checkout.commit()
    checkout.git('checkout', '--quiet', 'main')
    checkout.write(FILE, `${TEXT}Ours.\n`)
    checkout.commit()
    expect(() => checkout.git('merge', 'other')).toThrow('git')
    writeFileSync(path, `${TEXT}Theirs.\n`)
    expect(await origin(touch(path))).toEqual(CHECKOUT)

    const own = checkout.write('.svc/workflows/own.md', TEXT)
    checkout.git('add', '--intent-to-add', '.svc/workflows/own.md')
    expect(await origin(own)).toEqual(ELSEWHERE)
    checkout.git('rm', '--quiet', '--cached', '--force', FILE)
    expect(await origin(path)).toEqual(ELSEWHERE)
  })

  test('is one while nobody wrote to it, whatever its content is taken for', async () => {
    const checkout = withFile()
    const path = checkout.path(FILE)
    const [found] = await checkouts().origins([{ path, bytes: Buffer.from('something else') }])
    expect(found).toEqual(CHECKOUT)
  })
})

describe('what cannot be told', () => {
  const damage = (change: (index: Buffer) => Buffer) => {
    const checkout = withFile()
    const index = checkout.path('.git/index')
    writeFileSync(index, change(readFileSync(index)))
    return touch(checkout.path(FILE))
  }

  test.each([
    ['a cut index', (index: Buffer) => index.subarray(0, 200), 'checksum'],
    ['no index at all', () => Buffer.from('hello'), 'no index'],
    ['a changed byte', (index: Buffer) => Buffer.from(index.map((byte, at) => (at === 100 ? byte ^ 1 : byte))), 'checksum'],
    ['a cut index without a checksum', (index: Buffer) => Buffer.concat([index.subarray(0, 200), Buffer.alloc(20)]), 'too early'],
    [
      'an unknown version',
      (index: Buffer) => Buffer.concat([index.subarray(0, 7), Buffer.of(9), index.subarray(8, -20), Buffer.alloc(20)]),
      'version 9',
    ],
    [
      'an extension that must be known',
      (index: Buffer) => Buffer.concat([index.subarray(0, -20), Buffer.from('new1\0\0\0\0'), Buffer.alloc(20)]),
      '"new1"',
    ],
  ])('%s counts as of the checkout, and says why', async (_, change, reason) => {
    expect(await origin(damage(change))).toEqual({ from: 'checkout', isCertain: false, reason: expect.stringContaining(reason) })
  })

  test('counts as of the checkout while the index is written, and is told afterwards', async () => {
    const checkout = withFile()
    const path = checkout.write('.svc/workflows/own.md', TEXT)
    const reader = checkouts()
    expect(await origin(path, reader)).toEqual(ELSEWHERE)
    const lock = checkout.write('.git/index.lock', '')
    expect(await origin(path, reader)).toEqual({ from: 'checkout', isCertain: false, reason: expect.stringContaining('index.lock') })
    rmSync(lock)
    checkout.git('add', '--all')
    expect(await origin(path, reader)).toEqual(CHECKOUT)
  })

  test.each([
    ['a configuration that cannot be read', '.git/config', '[core\n'],
    ['an unknown object format', '.git/config', '[extensions]\nobjectFormat = sha3\n'],
  ])('%s counts as of the checkout', async (_, name, content) => {
    const checkout = withFile()
    const path = checkout.write('.svc/workflows/own.md', TEXT)
    checkout.write(name, content)
    expect(await origin(path)).toEqual(UNKNOWN)
  })

  test('a .git that leads nowhere counts as a checkout, and so does a directory that a sparse index leaves out', async () => {
    const directory = temporary()
    writeFileSync(join(directory, '.git'), 'gitdir: nowhere\n')
    writeFileSync(join(directory, 'own.md'), TEXT)
    expect(await origin(join(directory, 'own.md'))).toEqual(UNKNOWN)

    const checkout = withFile()
    checkout.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'docs')
    expect(await origin(checkout.write(FILE, TEXT))).toEqual(UNKNOWN)
  })
})

test('a large index is read once for many questions', async () => {
  const checkout = withFile()
  const real = createNodeFiles()
  const read: string[] = []
  const files = { ...real, read: (...args: Parameters<typeof real.read>) => (read.push(args[0]), real.read(...args)) }
  const reader = createCheckouts({ files, paths })
  const path = checkout.path(FILE)
  for (let round = 0; round < 3; round++)
    await reader.origins([
      { path, bytes: readFileSync(path) },
      { path: checkout.path('docs/deep/er/page-1.md'), bytes: Buffer.from('1\n') },
    ])
  expect(read.filter((name) => name.endsWith('/index'))).toHaveLength(1)
  expect(statSync(path).size).toBe(TEXT.length)
})
