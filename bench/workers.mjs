/**
 * A worker beside `svc serve`: from the start of the process to its first healthy answer, and what it holds in memory when nobody asks.
 * `node bench/workers.mjs [rounds] [main.js]` prints medians; the ratio is the figure, since times belong to the machine.
 */
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [, , rounds = '10', program = fileURLToPath(new URL('../dist/main.js', import.meta.url))] = process.argv
/** ms after which memory is looked at: what the start has left behind is given back by then. */
const QUIET = 15_000

const place = mkdtempSync(join(tmpdir(), 'svc-workers-'))
const [root, boot, key] = ['root', 'bootstrap.json', 'verifier'].map((name) => join(place, name))
mkdirSync(root)
writeFileSync(key, Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x, 'base64url'))
const expiresAt = Math.floor(Date.now() / 1000) + 3600
const ids = { tenantId: 'acme', workspaceId: 'ws-1', runtimeId: 'rt-1', runtimeGeneration: 1 }
writeFileSync(boot, JSON.stringify({ version: 1, ...ids, root, expiresAt }))
const serve = [program, 'serve', '--port', '0']
const kinds = {
  serve: { args: serve, state: join(place, 'serve') },
  worker: { args: [...serve, '--worker-bootstrap', boot, '--worker-verification-key-file', key], state: join(place, 'worker') },
}

const times = { serve: [], worker: [] }
const memory = {}
try {
  for (const kind of Object.values(kinds)) await (await start(kind)).stop() // makes the database and fills caches
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, kind] of Object.entries(kinds)) {
      const server = await start(kind)
      times[name].push(server.ms)
      await server.stop()
    }
  }
  for (const [name, kind] of Object.entries(kinds)) {
    const server = await start(kind)
    await new Promise((resolve) => setTimeout(resolve, QUIET))
    memory[name] = server.memory()
    await server.stop()
  }
} finally {
  rmSync(place, { recursive: true, force: true })
}
const median = (samples) => samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]
for (const name of Object.keys(kinds))
  console.log(`${name.padEnd(7)} ${median(times[name]).toFixed(0)} ms to health, ${memory[name].toFixed(0)} MB when idle`)
console.log(`ratio   ${(median(times.worker) / median(times.serve)).toFixed(2)}`)

async function start({ args, state }) {
  const begun = performance.now()
  const env = { PATH: process.env.PATH, HOME: place, SVC_AGENT_STATE_DIR: state }
  const child = spawn(process.execPath, args, { cwd: place, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    if (said.includes('\n')) break
  }
  const [url] = /http:\S+/.exec(said) ?? []
  if (url === undefined) throw new Error(`it did not start: ${said}`)
  const { status } = await fetch(`${url}/v2/health`)
  const ms = performance.now() - begun
  if (status !== 200) throw new Error(`health was answered ${status}`)
  return {
    ms,
    /** MB that are its own (proportional share of what is mapped). */
    memory: () => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
