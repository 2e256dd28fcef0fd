/**
 * `npm run bench -- [--only turns,tools] [--quick] [--runs N]`: measures this checkout, and the peers when there are any.
 *
 *   SVC_BENCH_DIR   the harness (a folder with bench.mjs); default: shared/bench beside this checkout
 *   BENCH_PEERS     a folder with one installed peer per folder; each that the harness has an adapter for is measured too
 *
 * Figures go to bench/results/<system>.json; phases that are not run keep their figures. Ends with a table of ratios.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const harness = resolve(process.env['SVC_BENCH_DIR'] ?? join(root, '../shared/bench'))
const results = join(root, 'bench/results')
const passed = process.argv.slice(2)

if (!existsSync(join(harness, 'bench.mjs'))) {
  process.stderr.write(`There is no benchmark harness at ${harness}. Name the folder that holds bench.mjs in SVC_BENCH_DIR.\n`)
  process.exit(1)
}

mkdirSync(results, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'svc-bench-'))
try {
  const systems = [...peers(), 'svc']
  const ended = systems.map((system) => measure(system))
  compare(systems)
  process.exitCode = ended.every((code) => code === 0) ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Peers that are installed and that the harness can drive; none unless BENCH_PEERS names their folder. */
function peers() {
  const folder = process.env['BENCH_PEERS']
  if (folder === undefined || !existsSync(folder)) return []
  return readdirSync(folder).filter((name) => name !== 'svc' && existsSync(join(harness, 'adapters', `${name}.mjs`)))
}

function measure(system) {
  const own = ['--system', system, '--out', join(results, `${system}.json`), '--work', work]
  return node('bench.mjs', [...own, ...passed])
}

/** The table of all systems with figures, ours last. */
function compare(systems) {
  const files = systems.map((system) => join(results, `${system}.json`)).filter((file) => existsSync(file))
  if (files.length > 0) node('compare.mjs', files)
}

function node(script, args) {
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, SVC_ROOT: root } }
  return spawnSync(process.execPath, [join(harness, script), ...args], options).status ?? 1
}
