/** Real repositories, made by git itself, for what reads them without it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Checkout {
  readonly directory: string
  git(...args: readonly string[]): string
  /** Absolute path of a file below the checkout, with its directories made. */
  path(name: string): string
  write(name: string, content: string | Uint8Array): string
  /** Everything written so far is committed. */
  commit(): void
}

const SETTINGS = [
  'user.name=test',
  'user.email=test@localhost',
  'protocol.file.allow=always',
  'init.defaultBranch=main',
  'core.fsmonitor=false',
]

export function temporary(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-git-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function openCheckout(directory: string): Checkout {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
      cwd: directory,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const path = (name: string) => {
    const at = join(directory, name)
    mkdirSync(dirname(at), { recursive: true })
    return at
  }
  return {
    directory,
    git,
    path,
    write(name, content) {
      const at = path(name)
      writeFileSync(at, content)
      return at
    },
    commit() {
      git('add', '--all')
      git('commit', '--quiet', '--message', 'more')
    },
  }
}

export function makeCheckout(directory = temporary(), ...init: readonly string[]): Checkout {
  mkdirSync(directory, { recursive: true })
  const checkout = openCheckout(directory)
  checkout.git('init', '--quiet', ...init)
  return checkout
}

/** A clone, as somebody gets it who did not write it. */
export function clone(from: Checkout, ...options: readonly string[]): Checkout {
  const to = join(temporary(), 'clone')
  from.git('clone', '--quiet', ...options, from.directory, to)
  return openCheckout(to)
}
