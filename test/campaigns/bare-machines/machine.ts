/**
 * A machine made from nothing: Debian's minimal root, in which somebody without rights works. He has what is put there and the network, and
 * sees nothing of the machine around it. It needs mmdebstrap and bubblewrap. Roots are kept in `SVC_TEST_ROOTS` where that is named.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Of one command, ms. */
const MOST = 300_000
const HOME = '/home/somebody'
const SEARCH = `${HOME}/global/bin:/opt/node/bin:/usr/bin:/bin`
/** Of the machine around, so that names are found and the registry is believed. */
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', ...[process.env['NODE_EXTRA_CA_CERTS']].flatMap((path) => path ?? [])]

export interface Machine {
  /** Where it lies, seen from outside. */
  readonly root: string
  /** The home of who works there, seen from inside. */
  readonly home: string
  /** What a command says; throws with all of it when it fails. */
  must(command: string): Promise<string>
  /** The status of a command, and what it says. */
  run(command: string): Promise<{ readonly status: number; readonly said: string }>
  /** A file or a folder of this machine, put there. */
  put(from: string, to: string): void
  write(path: string, content: string): void
  remove(): void
}

/** `packages` are those of Debian that it has besides. */
export function makeMachine(name: string, packages: readonly string[] = []): Machine {
  const root = mkdtempSync(join(tmpdir(), `svc-machine-${name}-`))
  const around = (path: string) => join(root, path)
  execFileSync('tar', ['-xf', archiveOf(packages), '-C', root, '--no-same-owner', '--exclude=./dev/*'])
  mkdirSync(around(HOME), { recursive: true })

  function run(command: string): ReturnType<Machine['run']> {
    const shown = NETWORK.flatMap((path) => (existsSync(path) ? ['--ro-bind', path, path] : []))
    const told = Object.entries({ PATH: SEARCH, HOME, LANG: 'C.UTF-8', npm_config_prefix: `${HOME}/global`, ...trusted() })
    const view = ['--bind', root, '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', ...shown, '--chdir', HOME]
    const apart = ['--unshare-all', '--share-net', '--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session', '--clearenv']
    const words = [...view, ...apart, ...told.flatMap(([key, value]) => ['--setenv', key, value]), 'sh', '-c', command]
    return new Promise((resolve) => {
      const child = execFile('bwrap', words, { encoding: 'utf8', timeout: MOST }, (error, stdout, stderr) => {
        const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ status, said: `${stdout}${stderr}` })
      })
      child.stdin?.end()
    })
  }

  return {
    root,
    home: HOME,
    run,
    async must(command) {
      const { status, said } = await run(command)
      if (status !== 0) throw new Error(`${name}: ${command} ended with ${status}:\n${said}`)
      return said
    },
    put(from, to) {
      mkdirSync(around(dirname(to)), { recursive: true })
      execFileSync('cp', ['-a', from, around(to)])
    },
    write(path, content) {
      mkdirSync(around(dirname(path)), { recursive: true })
      writeFileSync(around(path), content)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function trusted(): Record<string, string> {
  const path = process.env['NODE_EXTRA_CA_CERTS']
  return path === undefined ? {} : { NODE_EXTRA_CA_CERTS: path }
}

function archiveOf(packages: readonly string[]): string {
  const folder = process.env['SVC_TEST_ROOTS'] ?? mkdtempSync(join(tmpdir(), 'svc-roots-'))
  const path = join(folder, `minbase${packages.map((name) => `-${name}`).join('')}.tar`)
  if (existsSync(path)) return path
  const more = packages.length === 0 ? [] : [`--include=${packages.join(',')}`]
  const making = join(folder, `making-${process.pid}-${basename(path)}`)
  const mirror = process.env['SVC_IMAGE_MIRROR'] ?? 'http://deb.debian.org/debian'
  execFileSync('mmdebstrap', ['--variant=minbase', ...more, 'bookworm', making, mirror], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: MOST,
  })
  renameSync(making, path)
  return path
}
