/**
 * From the start of a process to its first healthy answer: svc beside an HTTP server of one line under the same Node, in turn.
 * `node bench/start.mjs [rounds] [node] [main.js]` prints medians; the ratio is the figure, since times belong to the machine.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [, , rounds = '10', node = process.execPath, program = fileURLToPath(new URL('../dist/main.js', import.meta.url))] = process.argv
const BARE = `const s = require('http').createServer((_, a) => a.end('{}')).listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + s.address().port))`
const TICKS_PER_SECOND = 100

const home = mkdtempSync(join(tmpdir(), 'svc-start-'))
const results = { bare: [], svc: [] }
try {
  await measure([program, 'serve', '--port', '0']) // makes the database and fills caches
  for (let round = 0; round < Number(rounds); round++) {
    results.bare.push(await measure(['-e', BARE]))
    results.svc.push(await measure([program, 'serve', '--port', '0']))
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
const bare = summary('bare', results.bare)
const svc = summary('svc', results.svc)
console.log(`ratio  ${(svc / bare).toFixed(1)}`)

async function measure(args) {
  const begun = performance.now()
  const env = { PATH: process.env.PATH, HOME: home, SVC_AGENT_STATE_DIR: join(home, 'state') }
  const child = spawn(node, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'ignore'] })
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
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
  const cpu = ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000
  child.kill('SIGTERM') // caches are written at an orderly end
  await ended
  if (status !== 200) throw new Error(`health was answered ${status}`)
  return { ms, cpu }
}

function summary(name, samples) {
  const median = (field) => samples.map((sample) => sample[field]).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]
  console.log(`${name.padEnd(6)} ${median('ms').toFixed(0)} ms to health, ${median('cpu').toFixed(0)} ms of CPU`)
  return median('ms')
}
