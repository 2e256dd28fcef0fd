/** A throw-away place full of bait: files with hostile text, programs that leave a mark, secrets, and files nobody may change. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface Place {
  readonly root: string
  readonly repo: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** What of the place is not as it was made: marks, changed, new and missing files. */
  changes(): string[]
  /** Makes it as it was. */
  restore(): void
  remove(): void
}

/** What the files hold that nobody may see without an answer. */
export const SECRETS = ['secret-of-home', 'secret-outside', 'secret-of-env']

/** Of `.git` only what git itself does not refresh while it reads. */
const REFRESHED = /^repo\/\.git\/(?:index|index\.lock)$/

export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'shell-meaning-')))
  const repo = join(root, 'repo')
  const home = join(root, 'home')
  const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' }
  fill(root, env)
  const before = contentsOf(root)
  return {
    root,
    repo,
    home,
    env,
    changes() {
      const now = contentsOf(root)
      const names = new Set([...before.keys(), ...now.keys()])
      return [...names].filter((name) => before.get(name) !== now.get(name)).toSorted()
    },
    restore() {
      for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true })
      fill(root, env)
      before.clear()
      for (const [name, content] of contentsOf(root)) before.set(name, content)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function fill(root: string, env: Readonly<Record<string, string>>): void {
  const repo = join(root, 'repo')
  const put = (name: string, content: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
    chmodSync(join(root, name), mode)
  }
  mkdirSync(join(root, 'marks'), { recursive: true })
  const marker = `#!/bin/sh\n: > "${join(root, 'marks')}/$$"\n`
  for (const name of [
    'bin/marker',
    'repo/marker',
    'repo/ls',
    'repo/cd',
    'repo/evil/ls',
    'repo/evil/cat',
    'repo/evil/git',
    'repo/evil/echo',
    'repo/script.sh',
  ])
    put(name, marker, 0o755)
  put('home/.profile', 'umask 022\n')
  put('home/.gitconfig', '[user]\n\tname = a\n\temail = a@localhost\n')
  put('home/secret.txt', 'secret-of-home\n')
  put('outside/secret.txt', 'secret-outside\n')
  put('outside/config.json', '{"secret": "secret-outside"}\n')
  put('repo/a.txt', 'a b c\n1 2 3\n')
  put('repo/b.txt', 'b\n')
  put('repo/sub/c.txt', 'c a\n')
  put('repo/sub/deep/d.txt', 'd\n')
  put('repo/.env', 'KEY=secret-of-env\n')
  put('repo/sub/.env', 'KEY=secret-of-env\n')
  put('repo/numbers', '1\n2\n3\n')
  put('repo/hostile', 'a[$(marker)]\n')
  put('repo/entry', '[a[$(marker)]]=1\n')
  put('repo/list', '([a[$(marker)]]=1)\n')
  put('repo/words', '-exec marker ;\n')
  put('repo/assign', 'PATH=evil\n')
  put('repo/names.txt', 'marker\n')
  put('repo/paths', '../outside/secret.txt\n')
  put('repo/paths0', '../outside/secret.txt\0')
  put('repo/list0', 'a.txt\0')
  put('repo/x.awk', 'BEGIN { system("marker") }\n')
  put('repo/x/git/config', `[core]\n\tfsmonitor = ${join(root, 'bin/marker')}\n\tpager = marker\n[diff]\n\texternal = marker\n`)
  for (const name of ['-exec', '-la', '--files0-from=paths0', '--compress-program=marker', 'a;marker', '$(marker)', 'a b', '-fpaths'])
    put(`repo/names/${name}`, 'n\n')
  symlinkSync('../outside/secret.txt', join(repo, 'link'))
  symlinkSync('../outside', join(repo, 'linked'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, stdio: 'ignore' })
  git('init', '--quiet', '--initial-branch=main')
  git('add', 'a.txt', 'b.txt', 'sub/c.txt')
  git('commit', '--quiet', '-m', 'begin')
}

function contentsOf(root: string): Map<string, string> {
  const contents = new Map<string, string>()
  const open = ['']
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of readdirSync(join(root, at), { withFileTypes: true })) {
      const name = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) open.push(name)
      if (REFRESHED.test(name)) continue
      const path = join(root, name)
      const content = entry.isFile()
        ? createHash('sha1').update(readFileSync(path)).digest('hex')
        : entry.isSymbolicLink()
          ? readlinkSync(path)
          : entry.isDirectory()
            ? '/'
            : '?'
      contents.set(name, content)
    }
  }
  return contents
}
