/** The built program, installed anew with another Node where there is no compiler. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const INSTALLED = ['package.json', 'package-lock.json', '.npmrc', 'scripts/native.mjs', 'dist']
const MOST = 110_000

export interface Installed {
  readonly program: string
  readonly modules: string
  /** What npm and our own script said. */
  readonly said: string
  /** The Node of that major version. */
  node(major: number): string
  remove(): void
}

/** Fetches these Nodes; the first one runs `npm ci` with a search path that holds itself and a shell. */
export function installFresh(versions: Readonly<Record<number, string>>): Installed {
  const root = mkdtempSync(join(tmpdir(), 'svc-nodes-'))
  const at = (...names: string[]) => join(root, ...names)
  const [first = ''] = Object.keys(versions)
  const node = (major: number | string) => at('nodes/node_modules', `node${major}`, 'bin/node')

  mkdirSync(at('nodes'))
  const wanted = Object.entries(versions).map(([major, version]) => `node${major}@npm:node-${process.platform}-${process.arch}@${version}`)
  execFileSync('npm', ['install', '--prefix', at('nodes'), '--no-save', '--ignore-scripts', ...wanted], { stdio: 'ignore', timeout: MOST })

  for (const name of INSTALLED) {
    mkdirSync(dirname(at('svc', name)), { recursive: true })
    cpSync(join(ROOT, name), at('svc', name), { recursive: true })
  }
  mkdirSync(at('bin'))
  symlinkSync(node(first), at('bin/node'))
  symlinkSync('/bin/sh', at('bin/sh'))
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js')
  const { status, stdout, stderr } = spawnSync(node(first), [npm, 'ci', '--omit=dev', '--foreground-scripts'], {
    cwd: at('svc'),
    env: { ...process.env, PATH: at('bin') },
    encoding: 'utf8',
    timeout: MOST,
  })
  const said = `${stdout}\n${stderr}`
  if (status !== 0) throw new Error(`npm ci ended with ${status}:\n${said}`)
  return {
    program: at('svc/dist/main.js'),
    modules: at('svc/node_modules'),
    said,
    node,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
