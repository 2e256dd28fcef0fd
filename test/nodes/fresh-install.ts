/** The built program, installed anew with other Nodes where there is no compiler: as a clone is, and from the file that is published. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const INSTALLED = ['package.json', 'package-lock.json', '.npmrc', 'scripts/native.mjs', 'dist']
const { publishedName: PUBLISHED } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly publishedName: string }
const MOST = 300_000

/** Where there is nothing but Node, a shell and npm. */
export interface Installed {
  /** Of a clone, after `npm ci` with the first Node. */
  readonly clone: { readonly program: string; readonly modules: string }
  /** After `npm i -g` of the file that `npm run package` makes, with the last Node. */
  readonly published: { readonly program: string; readonly root: string }
  /** What npm and our own script said. */
  readonly said: string
  /** The Node of that major version. */
  node(major: number): string
  remove(): void
}

/** Fetches these Nodes; each installs with a search path that holds itself and a shell. */
export function installFresh(versions: Readonly<Record<number, string>>): Installed {
  const root = mkdtempSync(join(tmpdir(), 'svc-nodes-'))
  const at = (...names: string[]) => join(root, ...names)
  const [first = '', last = ''] = Object.keys(versions)
  const node = (major: number | string) => at('nodes/node_modules', `node${major}`, 'bin/node')

  mkdirSync(at('nodes'))
  const wanted = Object.entries(versions).map(([major, version]) => `node${major}@npm:node-${process.platform}-${process.arch}@${version}`)
  execFileSync('npm', ['install', '--prefix', at('nodes'), '--no-save', '--ignore-scripts', ...wanted], { stdio: 'ignore', timeout: MOST })

  for (const name of INSTALLED) {
    mkdirSync(dirname(at('svc', name)), { recursive: true })
    cpSync(join(ROOT, name), at('svc', name), { recursive: true })
  }
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js')
  const install = (major: string, ...args: readonly string[]) => {
    const bin = at(`bin${major}`)
    mkdirSync(bin)
    symlinkSync(node(major), join(bin, 'node'))
    symlinkSync('/bin/sh', join(bin, 'sh'))
    const options = { cwd: at('svc'), env: { ...process.env, PATH: bin }, encoding: 'utf8', timeout: MOST } as const
    const { status, stdout, stderr } = spawnSync(node(major), [npm, ...args], options)
    const text = `${stdout}\n${stderr}`
    if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}:\n${text}`)
    return text
  }
  const said = install(first, 'ci', '--omit=dev', '--foreground-scripts')
  const file = execFileSync(process.execPath, [join(ROOT, 'scripts/package.mjs'), '--out', at('file')], {
    encoding: 'utf8',
    env: { ...process.env, SVC_TEST_BUILT: '1' },
    timeout: MOST,
  }).trim()
  install(last, 'install', '--global', '--prefix', at('global'), file)
  const published = at('global/lib/node_modules', PUBLISHED)
  return {
    clone: { program: at('svc/dist/main.js'), modules: at('svc/node_modules') },
    published: { program: join(published, 'dist/main.js'), root: published },
    said,
    node,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
