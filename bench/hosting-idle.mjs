/**
 * `node bench/hosting-idle.mjs [--asleep N] [--awake N] [--seconds N]`: what a host costs while nobody asks for anything, in processor time and
 * memory, by who uses it. Workers that are to sleep are made with a stand-in that starts fast (hosting-worker.mjs), as nothing of them runs then;
 * those awake are of the built program. PostgreSQL, bubblewrap and the packages of the example (.ci/hosting) have to be there.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const packages = process.env.SVC_TEST_HOSTING ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc-test-hosting')
const bench = fileURLToPath(new URL('.', import.meta.url))
const ASLEEP = option('--asleep', 200)
const AWAKE = option('--awake', 20)
const SECONDS = option('--seconds', 60)
const PORT = option('--port', 5770)
/** Workers that are started at the same time. */
const AT_ONCE = 3
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

// What others make in the folder of temporary files is no affair of these servers, which look for configuration that may come beside them.
const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const folder = join(place, 'example')
const data = join(place, 'host')
// PostgreSQL runs as a user of its own.
chmodSync(place, 0o711)
mkdirSync(data)
cpSync(join(bench, '../examples/hosting'), folder, { recursive: true })
symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'))
try {
  const made = await start(bench, 'hosting-worker.mjs', { idle: 1, inspect: 1 })
  await wake(1, ASLEEP)
  while (workers().length > 0) await delay(200)
  await made.end()
  const host = await start(join(bench, '..'), 'dist/main.js', { idle: 3600 })
  await delay(15_000)
  await tell(`nothing awake, ${ASLEEP} asleep`)
  await wake(ASLEEP + 1, AWAKE)
  // After a start the heap is made small, for about a minute.
  await delay(90_000)
  await tell(`${AWAKE} awake, ${ASLEEP} asleep`)
  await host.end()
} finally {
  rmSync(place, { recursive: true, force: true })
}

async function start(svc, main, times) {
  const args = ['start.mjs', '--data', data, '--port', String(PORT), '--svc', svc, '--main', main, '--more', String(ASLEEP + AWAKE)]
  const child = spawn(process.execPath, [...args, '--times', JSON.stringify(times)], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => /^ready$/m.test((said += text)) && resolve())
    child.once('close', (code) => reject(new Error(`the host ended with code ${code}`)))
  })
  return {
    async end() {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await closed
    },
  }
}

async function wake(first, count) {
  const { controllers } = JSON.parse(readFileSync(join(data, 'host.json'), 'utf8'))
  const bearer = readFileSync(join(data, 'secret-application-acme'), 'utf8')
  const names = Array.from({ length: count }, (_, index) => `w-${first + index}`).values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const name of names) {
        const response = await fetch(`${controllers[0].url}/v1/workspaces/${name}/runtime/connection`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: '{}',
        })
        if (!response.ok) throw new Error(`${name} was answered ${response.status}: ${await response.text()}`)
      }
    }),
  )
}

/** Everything of the host, by what it is. */
function processes() {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const rss = Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
        const pss = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), rss, pss, command }]
      } catch {
        return [] // It has ended meanwhile.
      }
    })
  const roots = new Map(all.flatMap(({ pid, command }) => (command.includes(data) ? [[pid, command]] : [])))
  const ofHost = (each) => {
    for (let at = each; at !== undefined; at = all.find(({ pid }) => pid === at.parent)) if (roots.has(at.pid)) return true
    return false
  }
  const kindOf = (each) => {
    for (let at = each; at !== undefined; at = all.find(({ pid }) => pid === at.parent)) {
      if (at.command.startsWith('bwrap')) return 'workers'
      if (/controller-\d\.json/.test(at.command)) return 'controllers'
      if (at.command.includes('bridge.json')) return 'bridge'
      if (at.command.includes('postgres')) return 'database'
    }
    return 'start'
  }
  return all.filter(ofHost).map((each) => ({ ...each, kind: kindOf(each) }))
}

function workers() {
  return processes().filter(({ kind }) => kind === 'workers')
}

async function tell(what) {
  const before = new Map(processes().map((each) => [each.pid, each.ticks]))
  await delay(SECONDS * 1000)
  const kinds = {}
  for (const { pid, kind, ticks, rss, pss } of processes()) {
    const sum = (kinds[kind] ??= { ticks: 0, rss: 0, pss: 0, count: 0 })
    sum.ticks += ticks - (before.get(pid) ?? 0)
    sum.rss += rss
    sum.pss += pss
    sum.count++
  }
  console.log(`${what}, in ${SECONDS} s:`)
  const percent = (ticks) => ((100 * ticks) / TICKS / SECONDS).toFixed(2)
  for (const [kind, { ticks, rss, pss, count }] of Object.entries(kinds))
    console.log(
      `  ${kind.padEnd(12)} ${percent(ticks)} % of a core; ${(rss / 1024).toFixed(0)} MB (${(pss / 1024).toFixed(0)} MB without what is shared) in ${count} processes`,
    )
  console.log(`  together     ${percent(Object.values(kinds).reduce((sum, { ticks }) => sum + ticks, 0))} % of a core`)
}

function option(name, fallback) {
  const at = process.argv.indexOf(name)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}
