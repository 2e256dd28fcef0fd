/**
 * Whether a backup holds anybody up: a server with a database of 1 GB, `svc backup` of it, and `GET /v2/health` and a new session in turn
 * meanwhile. Prints milliseconds. `node bench/backup.mjs [--megabytes 1000] [--port 4800]`, after `npm run build`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1000' }, port: { type: 'string', default: '0' } } })
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'svc-bench-backup-'))
const state = join(root, 'state')
mkdirSync(state, { mode: 0o700 })
const env = { PATH: process.env.PATH, HOME: root, SVC_AGENT_STATE_DIR: state }
const Database = createRequire(import.meta.url)(
  Number.parseInt(process.versions.node, 10) >= 22 ? 'better-sqlite3-prebuilt' : 'better-sqlite3',
)

async function serve() {
  const child = spawn(process.execPath, [program, 'serve', '--port', values.port], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve) => {
    let out = ''
    child.stdout.on('data', (text) => {
      out += text
      const found = /(http:\/\/\S+)/.exec(out)
      if (found) resolve(found[1])
    })
  })
  return { url, end: () => new Promise((resolve) => child.once('exit', resolve) && child.kill('SIGTERM')) }
}

function percentile(all, part) {
  const sorted = all.toSorted((a, b) => a - b)
  return Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)) / 10
}

async function measure(url, until) {
  const health = []
  const sessions = []
  while (!until()) {
    for (const [list, path, init] of [
      [health, '/v2/health', {}],
      [sessions, '/v2/sessions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"Bench"}' }],
    ]) {
      const begin = performance.now()
      await (await fetch(url + path, init)).text()
      list.push(performance.now() - begin)
    }
    await delay(5)
  }
  const told = (list) => ({ calls: list.length, p50: percentile(list, 0.5), p99: percentile(list, 0.99), most: percentile(list, 1) })
  return { health: told(health), sessions: told(sessions) }
}

try {
  await (await serve()).end()
  const database = new Database(join(state, 'agent.sqlite3'))
  database.exec('create table ballast (data blob)')
  const insert = database.prepare('insert into ballast values (randomblob(1000000))')
  for (let index = 0; index < Number(values.megabytes); index += 50)
    database.transaction(() => Array.from({ length: 50 }, () => insert.run()))()
  database.close()
  const { url, end } = await serve()
  const idleUntil = performance.now() + 5000
  console.log('without', await measure(url, () => performance.now() > idleUntil))
  const begin = performance.now()
  let isDone = false
  const file = join(root, 'backup.tar')
  const backup = spawn(process.execPath, [program, 'backup', file], { cwd: root, env, stdio: 'inherit' })
  backup.once('exit', () => (isDone = true))
  console.log('during ', await measure(url, () => isDone))
  console.log(`backup: ${Math.round(performance.now() - begin)} ms, ${Math.round(statSync(file).size / 1e6)} MB`)
  await end()
} finally {
  rmSync(root, { recursive: true, force: true })
}
