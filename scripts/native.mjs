/**
 * Provides the native parts after an install. From Node 22 on they come as binaries in their packages, and this only looks
 * whether they load; before, and on systems without such binaries, they are compiled from the sources in their packages and
 * the headers that came with this Node. Dependencies run no install scripts of their own (`allowScripts` in package.json), so
 * an install fetches nothing but packages. Without the SQLite driver nothing works; without terminals everything else does.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
/** As in src/store/disk/driver.ts. */
const HAS_BINARIES = Number.parseInt(process.versions.node, 10) >= 22

provide(HAS_BINARIES ? 'better-sqlite3-prebuilt' : 'better-sqlite3', (path) => `new (require(${path}))(':memory:').close()`, fail)
if (!HAS_BINARIES || !hasTerminals()) provide('node-pty', probeTerminal, withoutTerminals, closeOnExec)

/** Whether the terminal binding that came as a binary loads, and what makes its terminals close-on-exec. */
function hasTerminals() {
  return runs("require('koffi').load(null); require('@lydell/node-pty')")
}

function withoutTerminals(reason) {
  if (!hasTerminals()) process.stderr.write(`svc: ${reason} Terminals are not available.\n`)
}

/** Ends well when a terminal is not handed on to every program this process starts, as far as the system tells. */
function probeTerminal(path) {
  return `const { master } = require(${path}).native.open(80, 24)
    const info = '/proc/self/fdinfo/' + master
    const [, flags = '02000000'] = require('fs').existsSync(info) ? /^flags:\\s*([0-7]+)/m.exec(require('fs').readFileSync(info, 'latin1')) : []
    process.exit(parseInt(flags, 8) & 0o2000000 ? 0 : 1)`
}

/** The package leaves the near side of a terminal open in programs started later; its sources are corrected before they are compiled. */
function closeOnExec(root) {
  const file = join(root, 'src/unix/pty.cc')
  const before = '  return fcntl(fd, F_SETFL, flags | O_NONBLOCK);'
  const after = `  if (fcntl(fd, F_SETFD, FD_CLOEXEC) == -1) return -1;\n${before}`
  const source = readFileSync(file, 'utf8')
  if (!source.includes(after)) writeFileSync(file, source.replace(before, after))
}

/** Compiles a package unless it loads; `prepare` may correct its sources, `refuse` is told why it cannot be had. */
function provide(name, probe, refuse, prepare = () => undefined) {
  const root = rootOf(name)
  if (root === undefined) return refuse(`${name} is not installed: run npm ci with this Node, and without omitting optional dependencies.`)
  const loads = () => runs(probe(JSON.stringify(root)))
  if (loads()) return
  prepare(root)
  if (!compile(root)) return refuse(`${name} did not compile; a C++ compiler, make and Python 3 are needed.`)
  if (!loads()) refuse(`${name} was compiled but does not load.`)
}

function rootOf(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** In a process of its own: what was made for another Node may end it. */
function runs(source) {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  return spawnSync(process.execPath, ['-e', source], { cwd, stdio: 'ignore' }).status === 0
}

function compile(root) {
  const nodeGyp = process.env['npm_config_node_gyp']
  if (nodeGyp === undefined) fail('run this through npm: npm run postinstall')
  const args = [nodeGyp, 'rebuild', '--release', '--jobs=max', `--nodedir=${String(headers())}`]
  const result = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (result.status !== 0) process.stderr.write(`${result.stdout}\n${result.stderr}\n`)
  return result.status === 0
}

/** Root of the installation whose include/node belongs to the Node that runs this. */
function headers() {
  const candidates = [process.env['npm_config_nodedir'], dirname(dirname(process.execPath))]
  const found = candidates.find((root) => root && existsSync(join(root, 'include/node/node.h')))
  return found ?? fail(`no headers of Node ${process.version} were found; name their root: npm_config_nodedir=/usr npm run postinstall`)
}

function fail(reason) {
  process.stderr.write(`svc: ${reason}\n`)
  process.exit(1)
}
