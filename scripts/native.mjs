/**
 * Compiles the SQLite driver after an install, from the sources in its package and the headers that came with
 * this Node. Dependencies run no install scripts of their own (`allowScripts` in package.json), so an install
 * fetches nothing but packages.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const driver = dirname(require.resolve('better-sqlite3/package.json'))

if (!loads()) {
  compile()
  if (!loads()) fail('the SQLite driver was compiled but does not load.')
}

function loads() {
  const probe = `new (require(${JSON.stringify(driver)}))(':memory:').close()`
  return spawnSync(process.execPath, ['-e', probe], { stdio: 'ignore' }).status === 0
}

function compile() {
  const nodeGyp = process.env['npm_config_node_gyp']
  if (nodeGyp === undefined) fail('run this through npm: npm run postinstall')
  const args = [nodeGyp, 'rebuild', '--release', '--jobs=max', `--nodedir=${headers()}`]
  const result = spawnSync(process.execPath, args, { cwd: driver, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout}\n${result.stderr}\n`)
    fail('the SQLite driver did not compile; a C++ compiler, make and Python 3 are needed.')
  }
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
