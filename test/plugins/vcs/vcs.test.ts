// Holds http-contract §2.17.
/** Version control as `dev.svc.vcs` tells it, by real git (subsystems h; threat-model §4.4). */
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Checkout, clone, makeCheckout, temporary } from '../../platform/git/checkout.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { openVcs } from './fixture.js'

const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }

function committed(...init: readonly string[]): Checkout {
  const checkout = makeCheckout(temporary(), ...init)
  checkout.write('a.txt', 'one\ntwo\n')
  checkout.write('gone.txt', 'bye\n')
  checkout.write('old name.txt', 'x\n'.repeat(20))
  checkout.write('tool.sh', '#!/bin/sh\n')
  checkout.write('deep/b.bin', Buffer.from([0, 1, 2]))
  checkout.write('.gitignore', 'ignored/\n')
  checkout.commit()
  return checkout
}

function changed(checkout: Checkout): void {
  appendFileSync(checkout.path('a.txt'), 'three\n')
  rmSync(checkout.path('gone.txt'))
  checkout.git('mv', 'old name.txt', 'new "name".txt')
  chmodSync(checkout.path('tool.sh'), 0o755)
  checkout.write('deep/b.bin', Buffer.from([0, 9]))
  checkout.write('untracked/é.txt', 'no newline')
  checkout.write('ignored/x', 'x')
  symlinkSync('a.txt', checkout.path('link'))
}

const STATUS = [
  ['a.txt', 'modified', 1, 0],
  ['deep/b.bin', 'modified', 0, 0],
  ['gone.txt', 'deleted', 0, 1],
  ['link', 'added', 1, 0],
  ['new "name".txt', 'added', 20, 0],
  ['old name.txt', 'deleted', 0, 20],
  ['tool.sh', 'modified', 0, 0],
  ['untracked/é.txt', 'added', 1, 0],
]

describe('a repository', () => {
  test.each([[[]], [['--object-format=sha256']]])('tells what differs from its last commit (%j)', async (init) => {
    const checkout = committed(...init)
    const vcs = openVcs()
    expect(await vcs.status(checkout.directory)).toEqual([])
    changed(checkout)
    const index = readFileSync(checkout.path('.git/index'))
    const status = await vcs.status(checkout.directory)
    expect(status.map(({ path, status: kind, additions, deletions }) => [path, kind, additions, deletions])).toEqual(STATUS)
    const diff = await vcs.diff(checkout.directory)
    expect(diff.map(({ path, status: kind, added, removed }) => [path, kind, added, removed])).toEqual(STATUS)
    expect(diff.find(({ path }) => path === 'untracked/é.txt')?.patch).toContain(
      '--- /dev/null\n+++ b/untracked/é.txt\n@@ -0,0 +1 @@\n+no newline\n',
    )
    expect(diff.find(({ path }) => path === 'tool.sh')?.patch).toBe('diff --git a/tool.sh b/tool.sh\nold mode 100644\nnew mode 100755\n')
    expect(
      diff.every(({ path, file, patch, hunks }) => file === path && patch.startsWith('diff --git ') && hunks[0]?.patch === patch),
    ).toBe(true)
    expect((await vcs.raw(checkout.directory)).toString()).toBe(checkout.git('diff', '--no-renames', 'HEAD'))
    expect(readFileSync(checkout.path('.git/index')).equals(index), 'the index is as it was').toBe(true)
    expect(
      readdirSync(join(vcs.state, 'git'))
        .flatMap((name) => readdirSync(join(vcs.state, 'git', name)))
        .filter((name) => name.startsWith('index')),
    ).toEqual([])
  })

  test('counts from its root wherever it is asked', async () => {
    const checkout = committed()
    changed(checkout)
    expect((await openVcs().status(checkout.path('deep/../deep').replace('/deep/../deep', '/deep'))).map(({ path }) => path)).toContain(
      'a.txt',
    )
  })

  test('tells bytes that are no text as they are', async () => {
    const checkout = makeCheckout()
    checkout.write('latin', Buffer.from([0xe9, 0x0a]))
    checkout.commit()
    checkout.write('latin', Buffer.from([0xe8, 0x0a]))
    expect((await openVcs().raw(checkout.directory)).includes(Buffer.from([0x2b, 0xe8, 0x0a]))).toBe(true)
  })

  test('without a commit has everything added, and one whose merge failed has its files modified', async () => {
    const fresh = makeCheckout()
    fresh.write('a', '1\n')
    fresh.write('b', '2\n')
    fresh.git('add', 'a')
    expect((await openVcs().status(fresh.directory)).map(({ path, status, additions }) => [path, status, additions])).toEqual([
      ['a', 'added', 1],
      ['b', 'added', 1],
    ])
    fresh.commit()
    fresh.git('checkout', '-q', '-b', 'side')
    fresh.write('a', 'side\n')
    fresh.commit()
    fresh.git('checkout', '-q', '-')
    fresh.write('a', 'main\n')
    fresh.commit()
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'merge', 'side'], { cwd: fresh.directory, env: ENV })
    const [only, ...others] = await openVcs().diff(fresh.directory)
    expect(others).toEqual([])
    expect(only).toMatchObject({ path: 'a', status: 'modified' })
    expect(only?.patch).toContain('+<<<<<<< HEAD')
  })

  test('tells its branch and the default branch of its remote', async () => {
    const origin = committed()
    const copy = clone(origin)
    const vcs = openVcs()
    const branch = origin.git('branch', '--show-current').trim()
    expect(await vcs.info(copy.directory)).toEqual({ branch, default_branch: branch })
    copy.git('checkout', '-q', '-b', 'work/in progress'.replace(' ', '-'))
    expect(await vcs.info(copy.directory)).toEqual({ branch: 'work/in-progress', default_branch: branch })
    copy.git('checkout', '-q', '--detach')
    expect(await vcs.info(copy.directory)).toEqual({ default_branch: branch })
  })

  test('may be a worktree, a submodule, sparse, or have its index split', async () => {
    const main = committed()
    const tree = join(temporary(), 'tree')
    main.git('worktree', 'add', '-q', '-b', 'other', tree)
    writeFileSync(join(tree, 'a.txt'), 'tree\n')
    const vcs = openVcs()
    expect((await vcs.status(tree)).map(({ path }) => path)).toEqual(['a.txt'])
    expect(await vcs.info(tree)).toEqual({ branch: 'other' })
    main.git('update-index', '--split-index')
    main.write('a.txt', 'split\n')
    expect((await vcs.status(main.directory)).map(({ path }) => path)).toEqual(['a.txt'])
    const outer = committed()
    outer.git('submodule', '--quiet', 'add', main.directory, 'inner')
    outer.commit()
    writeFileSync(outer.path('inner/a.txt'), 'inside\n')
    expect((await vcs.status(outer.path('inner'))).map(({ path }) => path)).toEqual(['a.txt'])
    expect(await vcs.status(outer.directory)).toEqual([])
    const sparse = clone(committed())
    sparse.git('sparse-checkout', 'set', 'deep')
    expect(await vcs.status(sparse.directory)).toEqual([])
  })

  test('keeps of a split index what it is made of now, and runs few programs at once', async () => {
    const checkout = committed()
    const vcs = openVcs()
    const shared = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('sharedindex.'))
    const theirs = () => shared(join(checkout.directory, '.git'))
    const kept = () => readdirSync(join(vcs.state, 'git')).flatMap((name) => shared(join(vcs.state, 'git', name)))
    checkout.git('update-index', '--split-index')
    expect(theirs()).toHaveLength(1)
    await vcs.status(checkout.directory)
    expect(kept()).toEqual(theirs())
    checkout.git('update-index', '--no-split-index')
    for (const name of theirs()) rmSync(checkout.path(`.git/${name}`))
    await Promise.all(Array.from({ length: 12 }, () => vcs.status(checkout.directory)))
    expect(kept()).toEqual([])
    expect(vcs.mostAtOnce()).toBeGreaterThan(1)
    expect(vcs.mostAtOnce()).toBeLessThanOrEqual(LIMITS.vcs.git.atOnce)
  })

  test('is none outside of one', async () => {
    const directory = temporary()
    writeFileSync(join(directory, 'a'), 'a\n')
    const vcs = openVcs()
    expect(await vcs.info(directory)).toEqual({})
    expect(await vcs.status(directory)).toEqual([])
    expect(await vcs.diff(directory)).toEqual([])
    expect(await vcs.raw(directory)).toHaveLength(0)
  })
})

const created = (name: string) => `--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+x\n`
const CONTROLS: readonly (readonly [what: string, patch: string])[] = [
  ['a name with a NUL', created('b/ok\0.txt')],
  ['a name with a NUL, quoted', created('"b/ok\\000.txt"')],
  ['a name with a NUL in its first line', `diff --git "a/ok\\000x" "b/ok\\000x"\nnew file mode 100644\nindex 0000000..e69de29\n`],
  ['a name to move to with a NUL', 'diff --git a/a.txt b/ok\nsimilarity index 100%\nrename from a.txt\nrename to "ok\\000x"\n'],
  ['a name with an escape', created('b/ok\x1b[0m')],
  ['a name with a tab, quoted', created('"b/ok\\t.txt"')],
  ['a name with a line feed, quoted', created('"b/ok\\nx"')],
  ['a name with a return', created('b/ok\rx')],
  ['a name with a C1 control', created('b/ok\u009bx')],
  ['a file that is there, deleted by a name with a control', '--- "a/a.txt\\000"\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n'],
]

describe('a patch', () => {
  const patch = (name: string, from: string, to: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`

  test('is applied below the directory, in a repository and outside of one, and told', async () => {
    const checkout = committed()
    checkout.write('deep/c.txt', 'c\n')
    const vcs = openVcs()
    expect(await vcs.apply(checkout.path('deep/c.txt').replace('/c.txt', ''), patch('c.txt', 'c', 'd'))).toEqual({ success: true })
    expect(readFileSync(checkout.path('deep/c.txt'), 'utf8')).toBe('d\n')
    const plain = temporary()
    writeFileSync(join(plain, 'x'), 'x\n')
    expect(await vcs.apply(plain, patch('x', 'x', 'y').trimEnd())).toEqual({ success: true })
    expect(readFileSync(join(plain, 'x'), 'utf8')).toBe('y\n')
    expect(vcs.told.map(({ type }) => type)).toEqual(['vcs.updated', 'vcs.updated'])
  })

  test('is applied whole or not at all', async () => {
    const checkout = committed()
    const vcs = openVcs()
    const result = await vcs.apply(checkout.directory, patch('gone.txt', 'bye', 'hi') + patch('a.txt', 'not there', 'x'))
    expect(result).toMatchObject({ success: false, error: expect.stringContaining('patch failed: a.txt:1') })
    expect(await vcs.status(checkout.directory)).toEqual([])
    expect(vcs.told).toEqual([])
  })

  test.each<readonly [what: string, patch: string]>([
    ['a protected file', '--- /dev/null\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+echo\n'],
    ['a file that runs by itself', '--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+echo\n'],
    ['a protected file that is moved away', 'diff --git a/.envrc b/x\nsimilarity index 100%\nrename from .envrc\nrename to x\n'],
    ['a file above', '--- /dev/null\n+++ b/../up.txt\n@@ -0,0 +1 @@\n+x\n'],
    ['a file behind a link', '--- /dev/null\n+++ b/out/up.txt\n@@ -0,0 +1 @@\n+x\n'],
    ['no file', 'hello\n'],
    ...CONTROLS,
  ])('that names %s changes nothing and says why', async (_, text) => {
    const checkout = committed()
    writeFileSync(checkout.path('.envrc'), 'export A=1\n')
    checkout.commit()
    const outside = temporary()
    symlinkSync(outside, checkout.path('out'))
    const before = readdirSync(checkout.path('.git/hooks'))
    const result = await openVcs().apply(checkout.directory, text)
    expect(result.success).toBe(false)
    expect(result.error).toMatch(/\w/)
    expect(readdirSync(outside)).toEqual([])
    expect(readdirSync(checkout.path('.git/hooks'))).toEqual(before)
    expect(readFileSync(checkout.path('.envrc'), 'utf8')).toBe('export A=1\n')
    expect(existsSync(join(checkout.directory, '../up.txt'))).toBe(false)
    expect(readdirSync(checkout.directory).filter((name) => name.startsWith('ok'))).toEqual([])
    expect(readFileSync(checkout.path('a.txt'), 'utf8')).toBe('one\ntwo\n')
  })
})

describe('what a repository names for git to start is not started', () => {
  interface Trick {
    readonly what: string
    readonly set: (checkout: Checkout, run: string) => void
    /** What plain git is asked for. */
    readonly control: readonly string[]
  }
  const attribute = (checkout: Checkout, text: string) => writeFileSync(checkout.path('.gitattributes'), text)
  const tricks: readonly Trick[] = [
    { what: 'fsmonitor', set: (c, run) => c.git('config', 'core.fsmonitor', run), control: ['status'] },
    { what: 'an external diff', set: (c, run) => c.git('config', 'diff.external', run), control: ['diff'] },
    {
      what: 'a driver that shows text',
      set: (c, run) => {
        c.git('config', 'diff.x.textconv', run)
        attribute(c, '*.txt diff=x\n')
      },
      control: ['diff'],
    },
    {
      what: 'a filter',
      set: (c, run) => {
        c.git('config', 'filter.x.clean', run)
        attribute(c, '* filter=x\n')
      },
      control: ['diff'],
    },
    {
      what: 'an included configuration',
      set: (c, run) => {
        writeFileSync(c.path('evil'), `[core]\n\tfsmonitor = ${run}\n`)
        c.git('config', 'include.path', '../evil')
      },
      control: ['status'],
    },
    {
      what: 'a hook',
      set: (c, run) => {
        writeFileSync(c.path('.git/hooks/post-index-change'), `#!/bin/sh\n${run}\n`, { mode: 0o755 })
      },
      control: ['add', '--intent-to-add', '.'],
    },
    {
      what: 'hooks elsewhere',
      set: (c, run) => {
        writeFileSync(c.path('hooks/post-index-change'), `#!/bin/sh\n${run}\n`, { mode: 0o755 })
        c.git('config', 'core.hooksPath', 'hooks')
      },
      control: ['add', '--intent-to-add', '.'],
    },
    {
      what: 'a repository inside',
      set: (c, run) => {
        const inner = makeCheckout(join(c.directory, 'inner'))
        inner.write('x', 'x\n')
        inner.commit()
        spawnSync('git', ['add', 'inner'], { cwd: c.directory, env: ENV })
        inner.write('x', 'y\n')
        inner.git('config', 'core.fsmonitor', run)
      },
      control: ['status'],
    },
    { what: 'a pager', set: (c, run) => c.git('config', 'core.pager', run), control: ['--paginate', 'diff'] },
  ]

  test.each(tricks)('$what', async ({ set, control }) => {
    const checkout = committed()
    const marker = join(temporary(), 'marker')
    const script = join(temporary(), 'evil.sh')
    writeFileSync(script, `#!/bin/sh\ntouch ${marker}\ncat 2>/dev/null </dev/null\n`, { mode: 0o755 })
    set(checkout, script)
    appendFileSync(checkout.path('a.txt'), 'more\n')
    checkout.write('untracked.txt', 'u\n')
    const vcs = openVcs()
    await vcs.info(checkout.directory)
    await vcs.status(checkout.directory)
    const diff = await vcs.diff(checkout.directory)
    await vcs.raw(checkout.directory)
    expect(await vcs.apply(checkout.directory, '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n')).toEqual({ success: true })
    expect(diff.map(({ path }) => path)).toContain('a.txt')
    expect(existsSync(marker)).toBe(false)
    // A pager is started for a terminal only, which `script` makes.
    const command = control.includes('--paginate') ? ['script', '-qec', ['git', ...control].join(' '), '/dev/null'] : ['git', ...control]
    spawnSync(command[0] ?? '', command.slice(1), { cwd: checkout.directory, env: ENV, stdio: 'ignore', timeout: 10_000 })
    expect(existsSync(marker), 'control: git itself runs it').toBe(true)
  })

  test.each([
    [
      'a .git file that leads to another repository',
      (own: Checkout, other: Checkout) => {
        rmSync(own.path('.git'), { recursive: true })
        writeFileSync(join(own.directory, '.git'), `gitdir: ${other.path('.git')}\n`)
      },
    ],
    [
      'a commondir of another repository',
      (own: Checkout, other: Checkout) => writeFileSync(own.path('.git/commondir'), other.path('.git')),
    ],
    [
      'objects of another repository',
      (own: Checkout, other: Checkout) => {
        mkdirSync(own.path('.git/objects/info'), { recursive: true })
        writeFileSync(own.path('.git/objects/info/alternates'), `${other.path('.git/objects')}\n`)
      },
    ],
    [
      'a link to the objects of another repository',
      (own: Checkout, other: Checkout) => {
        rmSync(join(own.directory, '.git/objects'), { recursive: true })
        symlinkSync(other.path('.git/objects'), join(own.directory, '.git/objects'))
      },
    ],
  ] as const)('%s is refused', async (_, lead) => {
    const own = committed()
    lead(own, committed())
    await expect(openVcs().status(own.directory)).rejects.toMatchObject({ code: 'request.unprocessable' })
  })
})
