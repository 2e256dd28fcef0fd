/**
 * How long a start takes with many uploads: prints milliseconds from the start of the process to its first answer, of an empty state and of
 * one with so many files, in turn. `node bench/uploads.mjs [--files 100000] [--rounds 5] [--port 4800]`, after `npm run build`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    port: { type: 'string', default: '0' },
  },
})
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'svc-bench-uploads-'))
const Database = createRequire(import.meta.url)(
  Number.parseInt(process.versions.node, 10) >= 22 ? 'better-sqlite3-prebuilt' : 'better-sqlite3',
)

async function started(state) {
  const env = { PATH: process.env.PATH, HOME: root, SVC_AGENT_STATE_DIR: state }
  const begin = performance.now()
  const child = spawn(process.execPath, [program, 'serve', '--port', values.port], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve) => {
    let out = ''
    child.stdout.on('data', (text) => {
      out += text
      const found = /(http:\/\/\S+)/.exec(out)
      if (found) resolve(found[1])
    })
  })
  await (await fetch(`${url}/v2/health`)).text()
  const took = Math.round(performance.now() - begin)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  return took
}

function fill(state) {
  const folder = join(state, 'artifacts', 'local')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = new Database(join(state, 'agent.sqlite3'))
  const insert = database.prepare('insert into artifacts (id, tenant_id, session_id, created, json) values (?, ?, null, ?, ?)')
  database.transaction(() => {
    for (let index = 0; index < Number(values.files); index++) {
      const id = `art_${String(index).padStart(20, '0')}`
      writeFileSync(join(folder, id), 'x')
      insert.run(id, 'local', index, JSON.stringify({ id, filename: 'x', mediaType: 'text/plain', size: 1, created: index, sha256: '0' }))
    }
  })()
  database.close()
}

try {
  const [empty, full] = ['empty', 'full'].map((name) => join(root, name))
  for (const state of [empty, full]) {
    mkdirSync(state, { mode: 0o700 })
    await started(state)
  }
  fill(full)
  for (let round = 0; round < Number(values.rounds); round++)
    console.log(`empty ${await started(empty)} ms, ${values.files} uploads ${await started(full)} ms`)
} finally {
  rmSync(root, { recursive: true, force: true })
}
