// Holds sessions-events §7.2, §7.3.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createGit } from '../../../src/platform/git/program/git-program.js'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { type ChangeHost, watchChanges } from '../../../src/plugins/shell/changes/watch-changes.js'
import type { FileSnapshot } from '../../../src/protocol/session/snapshot.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'

const signal = new AbortController().signal
const told = ({ path, before, after }: FileSnapshot) => [path, textOf(before), textOf(after)]
const textOf = ({ exists, link, contentBase64, mode }: FileSnapshot['before']) =>
  !exists ? 'nothing' : link !== undefined ? `-> ${link}` : `${mode?.toString(8)} ${Buffer.from(contentBase64 ?? '', 'base64').toString()}`

function place(isRepository: boolean, files: Readonly<Record<string, string>>, ahead = 0) {
  const fakes = createFakeEffects()
  const { processes, childEnv, clock } = createNodeEffects()
  const effects = { ...fakes, processes, childEnv, clock: { ...clock, now: () => clock.now() + ahead } }
  const directory = fakes.paths.cwd
  const put = (name: string, content: string) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content, { mode: 0o644 })
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: directory, stdio: 'ignore' })
  for (const [name, content] of Object.entries(files)) put(name, content)
  if (isRepository) {
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '-m', 'begin')
  }
  const host: ChangeHost = {
    effects,
    git: isRepository ? createGit(effects) : { ...noDoors.git, open: async () => undefined },
    fileStates: noDoors.fileStates,
  }
  const changes = async (change: () => void, writes: readonly string[] = []) => {
    const watch = await watchChanges(host, { sessionId: 'ses_1', directory, writes }, signal)
    change()
    return watch.end(signal)
  }
  return { directory, at: (name: string) => join(directory, name), put, git, changes }
}

describe('what a command changes in a repository', () => {
  it('is told with the states before and after, of clean and of dirty files', async () => {
    const { at, put, changes } = place(true, { 'a.txt': 'a\r\n', 'b.txt': 'b', 'c.txt': 'c', 'd.txt': 'd', 'x.sh': 'x' })
    put('b.txt', 'dirty')
    put('new.txt', 'untracked')
    const { snapshots = [], unkept } = await changes(() => {
      writeFileSync(at('a.txt'), 'A\r\n')
      appendFileSync(at('b.txt'), '!')
      rmSync(at('c.txt'))
      renameSync(at('d.txt'), at('e.txt'))
      chmodSync(at('x.sh'), 0o755)
      rmSync(at('new.txt'))
      symlinkSync('a.txt', at('link'))
    })
    expect(unkept).toBeUndefined()
    expect(snapshots.map(told)).toEqual([
      ['a.txt', '644 a\r\n', '644 A\r\n'],
      ['b.txt', '644 dirty', '644 dirty!'],
      ['c.txt', '644 c', 'nothing'],
      ['d.txt', '644 d', 'nothing'],
      ['e.txt', 'nothing', '644 d'],
      ['link', 'nothing', '-> a.txt'],
      ['new.txt', '644 untracked', 'nothing'],
      ['x.sh', '644 x', '755 x'],
    ])
  })

  it('is nothing when it only commits, and all of it when it goes to another commit', async () => {
    const { at, put, git, changes } = place(true, { 'a.txt': 'old' })
    put('a.txt', 'new')
    expect(await changes(() => git('commit', '--quiet', '-am', 'next'))).toEqual({})
    const { snapshots = [] } = await changes(() => git('reset', '--quiet', '--hard', 'HEAD~1'))
    expect(snapshots.map(told)).toEqual([['a.txt', '644 new', '644 old']])
    expect(at('a.txt')).toContain('a.txt')
  })

  it('never counts a file as made that was there and ignored', async () => {
    // A clock that is ahead: what was written before lies well before the command.
    const { put, changes } = place(true, { '.gitignore': 'secret\n' }, 1000)
    put('secret', 'mine')
    const { snapshots = [], unkept } = await changes(() => put('.gitignore', ''))
    expect([snapshots.map(({ path }) => path), unkept]).toEqual([['.gitignore'], undefined])
  })

  it('is said not to be kept where git converts contents', async () => {
    const { put, changes } = place(true, { '.gitattributes': '*.bat eol=crlf\n', 'run.bat': 'a\r\nb\r\n' })
    expect(await changes(() => put('run.bat', 'changed'))).toMatchObject({ unkept: expect.stringContaining('run.bat: git converts') })
  })

  it('is told of ignored files and places outside that the command is known to write', async () => {
    const { directory, put, changes } = place(true, { '.gitignore': 'out\n' })
    put('out', 'before')
    const other = join(dirname(directory), 'elsewhere')
    const { snapshots = [] } = await changes(() => {
      put('out', 'after')
      writeFileSync(other, 'x', { mode: 0o644 })
    }, [join(directory, 'out'), other])
    expect(snapshots.map(told)).toEqual([
      [other, 'nothing', '644 x'],
      ['out', '644 before', '644 after'],
    ])
  })
})

describe('what a command changes elsewhere', () => {
  it('is told by comparing the tree', async () => {
    const { at, put, changes } = place(false, { 'a.txt': 'a', 'deep/b.txt': 'b', 'node_modules/x.js': 'x' })
    const { snapshots = [] } = await changes(() => {
      put('a.txt', 'A')
      rmSync(at('deep'), { recursive: true })
      put('c.txt', 'c')
      put('node_modules/x.js', 'y')
    })
    expect(snapshots.map(told)).toEqual([
      ['a.txt', '644 a', '644 A'],
      ['c.txt', 'nothing', '644 c'],
      ['deep/b.txt', '644 b', 'nothing'],
    ])
  })

  it('is said not to be kept among too many files', async () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, '']))
    expect(await place(false, many).changes(() => undefined)).toEqual({ unkept: expect.stringContaining('too many files') })
  })
})

describe.each([true, false])('what a command leads elsewhere (in a repository: %s)', (isRepository) => {
  it('is not looked at through a link: the file that stood there is gone', async () => {
    const { directory, at, put, changes } = place(isRepository, { 'kept.txt': 'k' })
    const outside = join(dirname(directory), 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'key'), 'SECRET')
    put('folder/key', 'harmless')
    const { snapshots = [], unkept } = await changes(() => {
      rmSync(at('folder'), { recursive: true })
      symlinkSync(outside, at('folder'))
    })
    expect(unkept).toBeUndefined()
    expect(snapshots.map(told)).toEqual([
      ['folder', 'nothing', `-> ${outside}`],
      ['folder/key', '644 harmless', 'nothing'],
    ])
    // The same names, and no link.
    const other = place(isRepository, { 'kept.txt': 'k' })
    other.put('folder/key', 'harmless')
    const plain = await other.changes(() => other.put('folder/key', 'SECRET'))
    expect(plain.snapshots?.map(told)).toEqual([['folder/key', '644 harmless', '644 SECRET']])
  })
})
