/** A repository in which many commands of git have something to do, and what git says of its own settings. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Checkout, makeCheckout, temporary } from '../../platform/git/checkout.js'

interface Trial {
  readonly directory: string
  /** Whether a program named by a setting has run since this was last asked. */
  ran(): boolean
  /** Runs one command of git; true when a program named by a setting ran. */
  runs(command: readonly string[]): boolean
}

export interface Fixture {
  /** Value of a setting that names the program. */
  valueOf(key: string): string
  /** A fresh copy with one more setting. */
  trial(key: string): Trial
}

/** By first word; each in a copy of its own would be too slow, so they follow each other. */
export const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['diff'],
  ['diff', '--cached'],
  ['log', '-p', '-1'],
  ['show', '--textconv', 'HEAD'],
  ['grep', 'one'],
  ['blame', 'a.txt'],
  ['cat-file', '--textconv', 'HEAD:a.txt'],
  ['ls-files', '--modified'],
  ['describe', '--always', '--dirty'],
  ['archive', '--format=tar.x', 'HEAD'],
  ['x'],
  ['fetch', 'origin'],
  ['ls-remote', 'origin'],
  ['push', 'origin', 'main'],
  ['pull', 'origin', 'main'],
  ['remote', 'update'],
  ['add', 'a.txt'],
  ['commit', '--quiet', '--message', 'more'],
  ['commit', '--quiet', '--allow-empty'],
  ['commit', '--quiet', '--allow-empty', '--message', 'signed', '-S'],
  ['commit', '--quiet', '--allow-empty', '--message', 'trailer', '--trailer', 'x: y'],
  ['log', '--show-signature', '-2'],
  ['tag', '--sign', '--message', 'a tag', 'signed'],
  ['stash'],
  ['checkout', 'other'],
  ['switch', 'main'],
  ['merge', 'other'],
  ['rebase', '--abort'],
  ['reset', '--hard', 'main'],
  ['rebase', 'other'],
  ['rebase', '--abort'],
  ['cherry-pick', 'other'],
  ['reset', '--hard', 'main'],
  ['submodule', 'update', '--init'],
  ['format-patch', '-1', '--stdout'],
  ['interpret-trailers', '--trailer', 'x: y', 'a.txt'],
  ['gc'],
]

/** Every setting the installed git documents, with `x` for what the user chooses. */
export function documentedSettings(): string[] {
  const keys = execFileSync('git', ['help', '--config'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^[a-zA-Z]/.test(line) && line.includes('.'))
  return [
    ...new Set(
      keys.map((key) =>
        key
          .trim()
          .replaceAll(/<[^>]+>|\*/g, 'x')
          .replace(/\.$/, '.x'),
      ),
    ),
  ].filter((key) => /^[\w-]+\.[\w.-]+$/.test(key))
}

export function makeFixture(): Fixture {
  const root = temporary()
  const marker = join(root, 'marker')
  const program = join(root, 'program')
  writeFileSync(program, `#!/bin/sh\n: > ${marker}\nexit 1\n`)
  chmodSync(program, 0o755)
  const hooks = join(root, 'hooks')
  mkdirSync(hooks)
  for (const name of ['pre-commit', 'post-checkout', 'pre-push', 'pre-rebase', 'post-merge', 'reference-transaction', 'post-index-change'])
    cpSync(program, join(hooks, name))
  const origin = grow(makeCheckout(join(root, 'base')))
  let trials = 0

  const valueOf = (key: string): string => {
    if (key === 'core.hooksPath') return hooks
    if (key === 'include.path') return join(root, 'included')
    if (key.startsWith('alias.') || key.endsWith('.update')) return `!${program}`
    return key.endsWith('url') ? `ext::${program}` : program
  }
  writeFileSync(join(root, 'included'), `[core]\n\tfsmonitor = ${program}\n`)

  return {
    valueOf,
    trial(key) {
      const directory = join(root, `trial-${++trials}`)
      cpSync(origin.directory, directory, { recursive: true })
      const [section = '', ...rest] = key.split('.')
      const name = rest.pop() ?? ''
      const heading = rest.length === 0 ? `[${section}]` : `[${section} "${rest.join('.')}"]`
      const config = join(directory, '.git/config')
      const before = readFileSync(config, 'utf8')
      // Of several addresses git takes the first.
      const kept = key === 'remote.origin.url' ? before.replace(/url = ssh.*/, '') : before
      writeFileSync(config, `${kept}${heading}\n\t${name} = ${valueOf(key)}\n`)
      const ran = () => {
        const isThere = existsSync(marker)
        rmSync(marker, { force: true })
        return isThere
      }
      return {
        directory,
        ran,
        runs(command) {
          spawnSync('git', command, { cwd: directory, env: environment(root), stdio: 'ignore', timeout: 10_000 })
          return ran()
        },
      }
    },
  }
}

function environment(root: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: root,
    TERM: 'xterm',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  }
}

function grow(checkout: Checkout): Checkout {
  checkout.write('.gitattributes', '*.txt filter=x diff=x merge=x\n')
  checkout.write('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = ../x\n')
  checkout.write('a.txt', 'one\n')
  checkout.commit()
  checkout.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},x`)
  checkout.git('commit', '--quiet', '--message', 'a submodule')
  checkout.git('checkout', '--quiet', '-b', 'other')
  checkout.write('a.txt', 'other\n')
  checkout.git('commit', '--quiet', '--all', '--message', 'other')
  checkout.git('checkout', '--quiet', 'main')
  checkout.write('a.txt', 'one\ntwo\n')
  checkout.git('commit', '--quiet', '--all', '--message', 'two')
  checkout.write('a.txt', 'one\ntwo\nthree\n')
  for (const [key, value] of [
    ['user.name', 'test'],
    ['user.email', 'test@localhost'],
    ['remote.origin.url', 'ssh://127.0.0.1:1/none'],
    ['submodule.x.url', '/nowhere'],
    ['protocol.ext.allow', 'always'],
  ] as const)
    checkout.git('config', key, value)
  return checkout
}
