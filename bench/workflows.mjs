/**
 * `node bench/workflows.mjs [--files N] [--workspaces N] [--idle SECONDS]`, on a built checkout: what many workflow files cost.
 *
 * Prints how long a start takes to follow them (first with files nobody has seen, then with files that are as they were), what
 * one changed file costs, and the processor time of a server that has nothing to do.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '10000' },
    workspaces: { type: 'string', default: '50' },
    idle: { type: 'string', default: '130' },
  },
})
const [FILES, WORKSPACES, IDLE] = [values.files, values.workspaces, values.idle].map(Number)
const CHANGES = 40
const TICK = 10
const ROUTE = '/v2/plugins/dev.svc.workflows'
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-bench-')))
const workspaces = Array.from({ length: WORKSPACES }, (_, index) => join(root, `workspace-${index}`))
const rows = []
let server
try {
  for (const workspace of workspaces) mkdirSync(join(workspace, '.svc/workflows'), { recursive: true })
  server = await start()
  for (const workspace of workspaces) await call(workspace, '')
  await stop(server)

  for (let index = 0; index < FILES; index++) save(index, 'first')
  server = await start()
  report('start, files never seen before', (await server.followed).ms, 'ms')
  report('  processor time until then', processorMs(), 'ms')
  await stop(server)

  server = await start()
  const { ms, expecting } = await server.followed
  report('start, files as they were', ms, 'ms', 'at most 2000')
  report('  processor time until then', processorMs(), 'ms')
  report('  of them active and in the agenda', expecting, '')
  await delay(3000)
  report('resident memory', residentMiB(), 'MiB')
  await changes()
  await delay(3000)
  const before = processorMs()
  await delay(IDLE * 1000)
  report(`processor time of ${IDLE} idle seconds`, (100 * (processorMs() - before)) / (IDLE * 1000), '%', 'about zero')
  await stop(server)
} finally {
  server?.child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
}
process.stdout.write(`\n${FILES} workflow files in ${WORKSPACES} workspaces\n\n`)
for (const [name, value, unit, wanted] of rows)
  process.stdout.write(`${name.padEnd(44)} ${value.padStart(9)} ${unit.padEnd(4)} ${wanted}\n`)

/** One file at a time; the processor time of all of them, and how long each took to be told of. */
async function changes() {
  const events = await openEvents()
  const before = processorMs()
  const latencies = []
  for (let change = 0; change < CHANGES; change++) {
    const index = Math.floor((change * FILES) / CHANGES)
    const told = events.next(`work-${index}`)
    const saved = performance.now()
    save(index, `change ${change}`)
    await told
    latencies.push(performance.now() - saved)
  }
  events.close()
  const sorted = latencies.toSorted((a, b) => a - b)
  report('one changed file, processor time', (processorMs() - before) / CHANGES, 'ms', 'at most 20')
  report('one changed file, until it is told of', sorted[Math.floor(sorted.length / 2)], 'ms', 'debounce is 150')
}

function save(index, prompt) {
  const zone = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo'][index % 4]
  const time = `${String(index % 24).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`
  const schedule = `schedule:\n  frequency: weekly\n  weekdays: [mon, thu]\n  time: "${time}"\n  timezone: ${zone}`
  const text = `---\nid: work-${index}\nname: Work ${index}\nactive: true\n${schedule}\nagent: build\n---\n\nDo the work (${prompt}).\n`
  writeFileSync(join(workspaces[index % WORKSPACES], `.svc/workflows/work-${index}.md`), text)
}

async function start() {
  const env = {
    PATH: process.env['PATH'],
    HOME: join(root, 'home'),
    XDG_CONFIG_HOME: join(root, 'config'),
    XDG_CACHE_HOME: join(root, 'cache'),
    SVC_AGENT_STATE_DIR: join(root, 'state'),
  }
  mkdirSync(env.HOME, { recursive: true })
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const url = line(child.stdout, (text) => /listening on (http:\S+)/.exec(text)?.[1])
  const followed = line(child.stderr, (text) => (text.includes('workflows follow their files') ? JSON.parse(text) : undefined))
  return { child, followed, url: await url }
}

/** The first line of a stream that `read` makes something of. */
function line(stream, read) {
  return new Promise((resolve, reject) => {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const each of lines) {
        const found = read(each)
        if (found !== undefined) resolve(found)
      }
    })
    stream.on('close', () => reject(new Error('the server ended')))
  })
}

function stop({ child }) {
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  return ended
}

async function call(workspace, path) {
  const answer = await fetch(`${server.url}${ROUTE}${path}`, { headers: { 'x-svc-directory': workspace } })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  return answer.json()
}

async function openEvents() {
  const controller = new AbortController()
  const answer = await fetch(`${server.url}/v2/events?tail=true`, { signal: controller.signal })
  const waiting = new Map()
  const read = async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of answer.body) {
      const records = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = records.pop() ?? ''
      for (const record of records) {
        const id = /^event: workflow\.updated$/m.test(record) ? /"workflowId":"([^"]+)"/.exec(record)?.[1] : undefined
        waiting.get(id)?.()
      }
    }
  }
  read().catch(() => undefined)
  return { next: (id) => new Promise((resolve) => waiting.set(id, resolve)), close: () => controller.abort() }
}

/** User and system time of the server so far. */
function processorMs() {
  const stat = readFileSync(`/proc/${server.child.pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

function residentMiB() {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

function report(name, value, unit, wanted = '') {
  rows.push([name, value.toFixed(value < 10 ? 2 : 0), unit, wanted])
}
