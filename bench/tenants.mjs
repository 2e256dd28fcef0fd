/**
 * `npm run --silent build && node bench/tenants.mjs`: by how much the load of one tenant moves the answers of another on one server. 32 clients
 * of a tenant ask one request after the other, alone and beside clients of another tenant; each pair is measured in turns, so that both
 * halves have the same machine. Exits with 1 when the median of the ratios of the slowest hundredth is more than `BOUND`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLIENTS = 32
const ROUNDS = Number(process.env.ROUNDS ?? 7)
const SECONDS = Number(process.env.SECONDS ?? 2)
const BOUND = 2
const SESSIONS = 100

if (process.argv[2] === 'load') await load(JSON.parse(process.argv[3]))
else await main()

/** Clients that ask until the time is over; prints how long each answer took, in us. */
async function load({ url, token, directory, path, clients, seconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const took = []
  const headers = { authorization: `Bearer ${token}`, 'x-svc-directory': directory }
  const ask = () =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      request(`${url}${path}`, { agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`))
        answer.resume().once('end', () => resolve(1000 * (performance.now() - begun)))
      })
        .once('error', reject)
        .end()
    })
  await Promise.all(Array.from({ length: clients }, ask))
  process.stdout.write('ready\n')
  const until = Date.now() + seconds * 1000
  const client = async () => {
    while (Date.now() < until) took.push(await ask())
  }
  await Promise.all(Array.from({ length: clients }, client))
  process.stdout.write(JSON.stringify(took.map(Math.round)), () => process.exit(0))
}

async function main() {
  const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const directory = join(place, 'shared')
  mkdirSync(directory)
  const file = join(place, 'tokens.json')
  const tokens = ['a', 'b'].map((name) => ({ token: `token-${name}`, tenantId: name, directoryPrefixes: [directory] }))
  writeFileSync(file, JSON.stringify({ tokens }), { mode: 0o600 })
  const server = spawn(process.execPath, [program, 'serve', '--port', process.env.PORT ?? '0'], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      HOME: place,
      SVC_AGENT_AUTH_CONFIG: file,
      SVC_AGENT_STATE_DIR: join(place, 'state'),
      SVC_AGENT_CACHE_DIR: join(place, 'cache'),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let isBroken = false
  try {
    const url = await new Promise((resolve, reject) => {
      server.stdout.on('data', (text) => /http:\S+/.test(text) && resolve(/http:\S+/.exec(text)[0]))
      server.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)))
    })
    const ids = {}
    for (const name of ['a', 'b']) for (let at = 0; at < SESSIONS; at++) ids[name] = (await create(url, `token-${name}`, directory)).id
    const path = (name) => `/v2/sessions/${ids[name]}`
    const victim = { url, token: 'token-b', directory, path: path('b'), clients: CLIENTS, seconds: SECONDS }
    const one = { ...victim, clients: 1 }
    const other = { url, token: 'token-a', directory, path: path('a'), clients: CLIENTS, seconds: SECONDS + 2 }
    isBroken = (await pair('beside as many clients that ask the same', victim, other)) || isBroken
    isBroken = (await pair('beside four times as many', victim, { ...other, clients: 4 * CLIENTS })) || isBroken
    isBroken = (await pair(`beside as many that list ${SESSIONS} sessions`, victim, { ...other, path: '/v2/sessions' })) || isBroken
    await pair('one client beside 32', one, other, true)
  } finally {
    server.kill('SIGTERM')
    await new Promise((resolve) => server.once('exit', resolve))
    rmSync(place, { recursive: true, force: true })
  }
  process.exit(isBroken ? 1 : 0)
}

async function create(url, token, directory) {
  const answer = await fetch(`${url}/v2/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-svc-directory': directory, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'one of many' }),
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

async function pair(what, victim, other, isTold = false) {
  const alone = []
  const beside = []
  const ratios = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = p99((await started(victim)).took)
    const load = await begun(other)
    const second = p99((await started(victim)).took)
    load.child.kill()
    await load.over
    alone.push(first)
    beside.push(second)
    ratios.push(second / first)
  }
  const ratio = median(ratios)
  const isOver = !isTold && ratio > BOUND
  const figures = `p99 ${ms(median(alone))} alone, ${ms(median(beside))} beside, ratio ${ratio.toFixed(2)} (${ratios.map((each) => each.toFixed(1)).join(' ')})`
  console.log(`${what}: ${figures}${isOver ? `, more than ${BOUND}` : ''}`)
  return isOver
}

async function started(options) {
  const { child, out } = await begun(options)
  return { child, took: JSON.parse((await out).split('\n')[1]) }
}

/** Resolves when its clients are connected. */
async function begun(options) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'load', JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  const over = new Promise((resolve) => child.once('close', resolve))
  const out = over.then(() => text)
  await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (text.startsWith('ready')) resolve()
    })
    void over.then(() => reject(new Error('the clients ended early')))
  })
  return { child, out, over }
}

function p99(took) {
  return took.toSorted((one, other) => one - other)[Math.floor(took.length * 0.99)]
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
}

function ms(us) {
  return `${(us / 1000).toFixed(1)} ms`
}
