/**
 * `npm run --silent build && node bench/terminals.mjs [--megabytes N]`: terminal throughput through svc to a local client,
 * node-pty's own limit beside it, keystroke echo, and what a client that stands still costs.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pty from 'node-pty'
import { WebSocket } from 'ws'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const at = process.argv.indexOf('--megabytes')
const megabytes = at < 0 ? 300 : Number(process.argv[at + 1])
const bytes = megabytes * 1_000_000
const ROUNDS = 3
/** Lines of 80 characters, as a terminal sees them. */
const FLOOD = `stty raw -echo; printf ready; read x; yes 0123456789012345678901234567890123456789012345678901234567890123456789012345678 | head -c ${bytes}; printf done; read x`

const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
  cwd: place,
  env: { PATH: process.env.PATH, HOME: place, SVC_AGENT_STATE_DIR: join(place, 'state'), SVC_AGENT_CACHE_DIR: join(place, 'cache') },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const url = await new Promise((resolve, reject) => {
    server.stdout.on('data', (text) => resolve(/http:\S+/.exec(text)?.[0]))
    server.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)))
  })
  const own = []
  const ours = []
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await throughNodePty())
    ours.push(await throughServer(url))
  }
  console.log(`node-pty alone, in one process   ${best(own)} MB/s`)
  console.log(`svc, to a local client           ${best(ours)} MB/s`)
  const { p50, p99 } = await echo(url)
  console.log(`keystroke echo                   p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
  const alone = await stalled(url, 0)
  console.log(`one client that stands still     ${alone.grown.toFixed(1)} MiB more in the server`)
  const beside = await stalled(url, 1)
  console.log(
    `one beside a client that reads   ${beside.grown.toFixed(1)} MiB more in the server, the other reads ${beside.rate.toFixed(0)} MB/s`,
  )
} finally {
  server.kill('SIGTERM')
  await new Promise((resolve) => server.once('exit', resolve))
  rmSync(place, { recursive: true, force: true })
}

function best(rates) {
  return Math.max(...rates).toFixed(0)
}

/** MB/s from a program through node-pty to a listener that counts. */
async function throughNodePty() {
  const terminal = pty.spawn('/bin/sh', ['-c', FLOOD], { encoding: null, env: { PATH: process.env.PATH }, cwd: '/' })
  let seen = 0
  let started
  await new Promise((resolve) => {
    terminal.onData((chunk) => {
      if (started === undefined) {
        started = performance.now()
        terminal.write('\n')
      } else if ((seen += chunk.length) >= bytes) resolve()
    })
  })
  const rate = bytes / 1000 / (performance.now() - started)
  terminal.kill('SIGKILL')
  return rate
}

async function throughServer(url) {
  const { socket, id } = await connect(url, await create(url, FLOOD))
  const rate = await flood(socket)
  socket.terminate()
  await remove(url, id)
  return rate
}

/** Starts the flood and reads all of it; MB/s. */
async function flood(socket) {
  let seen = 0
  const start = performance.now()
  await new Promise((resolve, reject) => {
    socket.on('message', (data, isBinary) => {
      if (!isBinary && (seen += data.length) >= bytes) resolve()
    })
    socket.once('close', () => reject(new Error(`closed after ${seen} bytes`)))
    socket.send('\n')
  })
  return bytes / 1000 / (performance.now() - start)
}

/** Resolves once the program says that it is ready; to be asked before the connection is open. */
function readiness(socket) {
  return new Promise((resolve) => {
    const look = (data, isBinary) => {
      if (isBinary || !data.includes('ready')) return
      socket.off('message', look)
      resolve()
    }
    socket.on('message', look)
  })
}

async function echo(url) {
  const { socket, id } = await connect(url, await create(url, 'stty raw -echo; printf ready; cat'))
  const times = []
  for (let key = 0; key < 500; key++) {
    const start = performance.now()
    await new Promise((resolve) => {
      const look = (_data, isBinary) => {
        if (isBinary) return
        socket.off('message', look)
        resolve()
      }
      socket.on('message', look)
      socket.send('x')
    })
    times.push(performance.now() - start)
    await delay(1)
  }
  socket.terminate()
  await remove(url, id)
  times.sort((a, b) => a - b)
  return { p50: times[250], p99: times[495] }
}

/** MiB the server grows by while a client does not read, with so many others that do. */
async function stalled(url, others) {
  const id = await create(url, FLOOD)
  const { socket: slow } = await connect(url, id)
  slow.pause()
  const before = resident()
  let rate = 0
  if (others > 0) {
    const { socket } = await connect(url, id)
    rate = await flood(socket)
    socket.terminate()
  } else {
    slow.send('\n')
    await delay(3000)
  }
  const grown = resident() - before
  slow.terminate()
  await remove(url, id)
  return { grown, rate }
}

function resident() {
  return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'latin1'))?.[1]) / 1024
}

async function create(url, script) {
  const { id } = await call(url, 'POST', '', { command: ['/bin/sh', '-c', script] })
  return id
}

async function remove(url, id) {
  await call(url, 'DELETE', `/${id}`)
}

async function connect(url, id) {
  const { ticket } = await call(url, 'POST', `/${id}/connect-token`)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v2/plugins/dev.svc.pty/${id}/connect?ticket=${ticket}`, {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  })
  const ready = readiness(socket)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  await ready
  return { socket, id }
}

async function call(url, method, path, body) {
  const answer = await fetch(`${url}/v2/plugins/dev.svc.pty${path}`, {
    method,
    headers: { 'x-svc-ticket': '1', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
