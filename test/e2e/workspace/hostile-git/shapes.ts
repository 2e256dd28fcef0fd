/** Repositories as an archive or a share may bring them: in each something is named for git to start, in every place where it would. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Shape {
  /** What is opened. */
  readonly directory: string
  /** Commit that its branch can go back to. */
  readonly first: string
  /** Traps that have sprung since this was last asked. */
  sprung(): string[]
  /** What plain git springs, asked for what svc shows. */
  sprungByGit(): string[]
}

interface Ground {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
}

const BY_GIT: readonly (readonly string[])[] = [
  ['status'],
  ['diff'],
  ['diff', '--no-ext-diff', '--textconv'],
  ['diff', '--submodule=diff'],
  ['add', '--intent-to-add', '--', '.'],
]

/** `inside`: names of repositories in it, the last one being the one that is hostile; `more` is done to it at the end. */
interface Plan {
  readonly inside: readonly string[]
  readonly tracks?: false
  readonly absorbs?: true
  readonly more?: (gitDirectory: string, ground: Ground) => void
}

const PLANS: Readonly<Record<string, Plan>> = {
  'a plain one': { inside: [] },
  'a nested one': { inside: ['sub'] },
  'a nested one that is not tracked': { inside: ['sub'], tracks: false },
  'a submodule': { inside: ['sub'], absorbs: true },
  'a submodule in a submodule': { inside: ['sub', 'deep'], absorbs: true },
  'nested ones': { inside: ['sub', 'deep'] },
}

/** Objects or refs that are those of somebody else: not opened at all. */
const REFUSED: Readonly<Record<string, Plan>> = {
  'one with alternates': {
    inside: [],
    more: (directory, ground) => moved(join(directory, 'objects'), ground, (at, to) => alternates(at, to)),
  },
  'one with a linked directory of objects': {
    inside: [],
    more: (directory, ground) => linked(firstOf(join(directory, 'objects')), ground),
  },
  'one with linked packs': {
    inside: [],
    more: (directory, ground) => {
      git(ground, dirname(directory), 'repack', '-adq')
      linked(join(directory, 'objects/pack'), ground)
    },
  },
  'one with linked refs': { inside: [], more: (directory, ground) => linked(join(directory, 'refs/heads'), ground) },
}

export const OPENED = Object.keys(PLANS)
export const NOT_OPENED = Object.keys(REFUSED)

const SETTINGS = ['user.name=test', 'user.email=test@localhost', 'protocol.file.allow=always', 'init.defaultBranch=main']
const git = ({ env }: Ground, cwd: string, ...args: readonly string[]) =>
  execFileSync('git', [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim()

function commit(ground: Ground, directory: string, content: string): string {
  writeFileSync(join(directory, 'a.txt'), content)
  git(ground, directory, 'add', 'a.txt')
  git(ground, directory, 'commit', '--quiet', '--message', content.trim())
  return git(ground, directory, 'rev-parse', 'HEAD')
}

export function makeShape(name: string, ground: Ground): Shape {
  const plan = PLANS[name] ?? REFUSED[name]
  if (plan === undefined) throw new Error(`no shape ${name}`)
  const root = join(ground.root, name.replaceAll(' ', '-'))
  const directory = join(root, 'top')
  const directories = [directory, ...plan.inside.map((_, index) => join(directory, ...plan.inside.slice(0, index + 1)))]
  const firsts: string[] = []
  for (const each of directories) {
    mkdirSync(each, { recursive: true })
    git(ground, each, 'init', '--quiet')
    firsts.push(commit(ground, each, 'one\n'))
    commit(ground, each, 'two\n')
  }
  for (const each of directories.slice(1).toReversed()) {
    if (plan.tracks === false) continue
    git(ground, dirname(each), 'add', '--', each)
    if (plan.absorbs === true) {
      const base = each.slice(each.lastIndexOf('/') + 1)
      writeFileSync(join(dirname(each), '.gitmodules'), `[submodule "${base}"]\n\tpath = ${base}\n\turl = ./${base}\n`)
      git(ground, dirname(each), 'add', '.gitmodules')
    }
    git(ground, dirname(each), 'commit', '--quiet', '--message', 'inside')
  }
  if (plan.absorbs === true) git(ground, directory, 'submodule', '--quiet', 'absorbgitdirs')
  const hostile = directories.at(-1) ?? directory
  const gitDirectory = git(ground, hostile, 'rev-parse', '--absolute-git-dir')
  plan.more?.(gitDirectory, ground)
  const traps = setTraps(root, gitDirectory, directories, ground)
  for (const each of directories) {
    // As long as it was, so that git has to read it.
    writeFileSync(join(each, 'a.txt'), 'six\n')
    writeFileSync(join(each, 'new.txt'), 'untracked\n')
  }
  return {
    directory,
    first: firsts[0] ?? '',
    sprung: traps,
    sprungByGit() {
      // What is not tracked is looked into from its own directory.
      const cwd = plan.tracks === false ? hostile : directory
      for (const command of BY_GIT) spawnSync('git', command, { cwd, env: ground.env, stdio: 'ignore', timeout: 20_000 })
      // A search path that is empty is the current directory.
      const found = spawnSync('/bin/sh', ['-c', 'command -v git'], { env: ground.env, encoding: 'utf8' }).stdout.trim()
      spawnSync(found, ['status'], { cwd, env: { ...ground.env, PATH: '', GIT_EXEC_PATH: '/dev/null' }, stdio: 'ignore', timeout: 20_000 })
      return traps()
    },
  }
}

/** What is in each trap besides the mark that it leaves. */
const TRAPS = { filter: 'exec cat', textconv: 'exec cat "$1"', external: '', fsmonitor: 'exit 1', hook: '', git: 'exit 1' }

function setTraps(root: string, gitDirectory: string, worktrees: readonly string[], ground: Ground): () => string[] {
  const marks = join(root, 'marks')
  mkdirSync(marks)
  const trap = (name: keyof typeof TRAPS, path = join(root, name)) => {
    writeFileSync(path, `#!/bin/sh\n: > '${join(marks, name)}'\n${TRAPS[name]}\n`, { mode: 0o755 })
    return path
  }
  for (const [key, name] of [
    ['filter.x.clean', 'filter'],
    ['filter.x.smudge', 'filter'],
    ['diff.x.textconv', 'textconv'],
    ['diff.external', 'external'],
    ['core.fsmonitor', 'fsmonitor'],
  ] as const)
    git(ground, root, 'config', '--file', join(gitDirectory, 'config'), key, trap(name))
  mkdirSync(join(gitDirectory, 'info'), { recursive: true })
  mkdirSync(join(gitDirectory, 'hooks'), { recursive: true })
  writeFileSync(join(gitDirectory, 'info/attributes'), '* filter=x diff=x\n')
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout']) trap('hook', join(gitDirectory, 'hooks', hook))
  for (const worktree of worktrees) trap('git', join(worktree, 'git'))
  return () =>
    readdirSync(marks)
      .map((name) => (rmSync(join(marks, name)), name))
      .toSorted()
}

/** The first loose directory of objects. */
function firstOf(objects: string): string {
  return join(objects, readdirSync(objects).find((name) => name.length === 2) ?? '')
}

function moved(path: string, { root }: Ground, then: (path: string, to: string) => void): void {
  let to = join(root, 'elsewhere')
  while (existsSync(to)) to += 'x'
  renameSync(path, to)
  then(path, to)
}

const linked = (path: string, ground: Ground) => moved(path, ground, (at, to) => symlinkSync(to, at))

function alternates(objects: string, to: string): void {
  mkdirSync(join(objects, 'info'), { recursive: true })
  writeFileSync(join(objects, 'info/alternates'), `${to}\n`)
}
