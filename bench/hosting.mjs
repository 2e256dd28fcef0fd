/**
 * `node bench/hosting.mjs [--streams N] [--rounds N]`: what the broker of examples/hosting adds to a request, and to a delta of N streams.
 * The worker is a stand-in that costs nothing (hosting-worker.mjs), so that what is measured is the way to it, three ways by turns:
 * bare, to a worker on this machine; by the sockets of its machine; and by a controller. Besides, what a delta costs each program on its way
 * in processor time, which other work on the machine does not change. PostgreSQL, bubblewrap and the packages of the
 * example (.ci/hosting) have to be there.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const packages = process.env.SVC_TEST_HOSTING ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc-test-hosting')
const bench = fileURLToPath(new URL('.', import.meta.url))
const STREAMS = option('--streams', 100)
const ROUNDS = option('--rounds', 5)
const REQUESTS = 1000
const LISTEN = 4000
const PORT = option('--port', 5760)

/** Reads streams in a process of its own. */
const READER = `
const http = require('http')
const [url, headers, count] = [process.argv[1], JSON.parse(process.argv[2]), Number(process.argv[3])]
const times = []
let open = 0
const agent = new http.Agent({ maxSockets: Infinity })
for (let index = 0; index < count; index++) {
  http.get(url, { headers, agent }, (response) => {
    open++
    let rest = ''
    response.setEncoding('utf8').on('data', (text) => {
      const now = process.hrtime.bigint()
      rest += text
      let end
      while ((end = rest.indexOf('\\n\\n')) >= 0) {
        const sent = /"sent":"(\\d+)"/.exec(rest.slice(0, end))
        rest = rest.slice(end + 2)
        if (sent && open === count) times.push(Number(now - BigInt(sent[1])) / 1e6)
      }
    })
  })
}
process.once('SIGTERM', () => { process.stdout.write(JSON.stringify(times.slice(count * 10)), () => process.exit()) })
`

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-hosting-'))
const data = mkdtempSync(join(tmpdir(), 'svc-bench-host-'))
cpSync(join(bench, '../examples/hosting'), folder, { recursive: true })
symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'))
const started = []
try {
  started.push(
    await start(
      process.execPath,
      ['start.mjs', '--data', data, '--port', String(PORT), '--svc', bench, '--main', 'hosting-worker.mjs'],
      /^ready$/m,
    ),
  )
  const bare = await start(process.execPath, [join(bench, 'hosting-worker.mjs'), '--port', '0'], /listening/)
  started.push(bare)
  const host = JSON.parse(readFileSync(join(data, 'host.json'), 'utf8'))
  const bearer = (tenant) => ({ authorization: `Bearer ${readFileSync(join(data, `secret-application-${tenant}`), 'utf8')}` })
  const ask = async (operation, method) => {
    const body = method === 'POST' ? { body: '{}' } : {}
    const url = `${host.controllers[0].url}/v1/workspaces/alpha/runtime/${operation}`
    const response = await fetch(url, { method, headers: { ...bearer('acme'), 'content-type': 'application/json' }, ...body })
    return response.json()
  }
  const before = performance.now()
  const grant = await ask('connection', 'POST')
  console.log(`a stand-in is made, started, verified and granted in ${(performance.now() - before).toFixed(0)} ms`)
  const status = await ask('status', 'GET')
  const identity = { authorization: `Bearer ${grant.bearer}` }
  const ways = {
    bare: { url: /http:\S+/.exec(bare.said())[0], headers: {} },
    machine: { url: status.binding.status.connection.agent_api_base_url.slice(0, -1), headers: {} },
    broker: { url: grant.baseUrl, headers: identity },
  }
  const requests = { bare: [], machine: [], broker: [] }
  const deltas = { bare: [], machine: [], broker: [] }
  const costs = { bare: {}, machine: {}, broker: {} }
  const programs = {
    bare: { worker: bare.pid },
    machine: { worker: workerOf(host.bridge.pid), bridge: host.bridge.pid },
    broker: { worker: workerOf(host.bridge.pid), bridge: host.bridge.pid, controller: host.controllers[0].pid },
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) requests[name].push(...(await request(way)))
    for (const [name, way] of Object.entries(ways)) {
      const spent = () => Object.fromEntries(Object.entries(programs[name]).map(([program, pid]) => [program, spentBy(pid)]))
      const before = spent()
      deltas[name].push(...(await stream(way)))
      for (const [program, now] of Object.entries(spent())) costs[name][program] = (costs[name][program] ?? 0) + now - before[program]
    }
  }
  tell('a request', requests)
  tell(`a delta at ${STREAMS} streams`, deltas)
  for (const [name, spent] of Object.entries(costs)) {
    const each = Object.entries(spent).map(([program, ms]) => `${program} ${((1000 * ms) / deltas[name].length).toFixed(1)} µs`)
    console.log(`a delta, ${name.padEnd(8)} costs ${each.join(', ')}`)
  }
} finally {
  for (const each of started) await each.end()
  rmSync(data, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}

function tell(what, times) {
  for (const list of Object.values(times)) list.sort((a, b) => a - b)
  for (const [name, list] of Object.entries(times)) {
    const [p50, p99] = [0.5, 0.99].map((quantile) => of(list, quantile))
    const [more50, more99] = [p50 - of(times.bare, 0.5), p99 - of(times.bare, 0.99)]
    const figures = `p50 ${p50.toFixed(2)} ms (+ ${more50.toFixed(2)}), p99 ${p99.toFixed(2)} ms (+ ${more99.toFixed(2)}), of ${list.length}`
    console.log(`${what}, ${name.padEnd(8)} ${figures}`)
  }
}

/** Times of requests, one after another on one connection, ms. */
async function request({ url, headers }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times = []
  for (let index = 0; index < REQUESTS; index++) {
    const begun = performance.now()
    await new Promise((resolve, reject) => {
      get(`${url}/v2/sessions/one`, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`))
        response.resume().once('end', resolve)
      }).once('error', reject)
    })
    // The first ones open connections.
    if (index >= 50) times.push(performance.now() - begun)
  }
  agent.destroy()
  return times
}

/** How long deltas are on their way, ms, read by a process of its own. */
async function stream({ url, headers }) {
  const reader = spawn(process.execPath, ['-e', READER, `${url}/v2/events`, JSON.stringify(headers), String(STREAMS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  reader.stdout.on('data', (text) => (said += text))
  const ended = new Promise((resolve) => reader.once('close', resolve))
  await delay(LISTEN)
  reader.kill('SIGTERM')
  await ended
  return JSON.parse(said)
}

async function start(program, args, wanted) {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => wanted.test((said += text)) && resolve())
    child.once('close', (code) => reject(new Error(`it ended with code ${code}`)))
  })
  return {
    pid: child.pid,
    said: () => said,
    async end() {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await closed
    },
  }
}

/** Of its first thread, ms. */
function spentBy(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

/** The last of what a bridge has started for its one machine. */
function workerOf(pid) {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return child === '' || child === undefined ? pid : workerOf(child)
}

function of(sorted, quantile) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))]
}

function option(name, fallback) {
  const at = process.argv.indexOf(name)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}
