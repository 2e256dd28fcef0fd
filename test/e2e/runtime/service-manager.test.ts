/** The server below a service manager: it tells when it answers, that it is well, and that it ends, and takes the socket it is given. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace, type Place } from '../server/place.js'
import { descendants, isRunning, untilNone } from '../server/processes.js'
import { PROGRAM } from '../server/server.js'

const MANAGER = fileURLToPath(new URL('../../fixtures/service-manager.py', import.meta.url))

let place: Place
let manager: ChildProcess | undefined
beforeEach(() => (place = makePlace({ 'README.md': 'hello\n' })))
afterEach(async () => {
  const left = manager?.pid === undefined ? [] : descendants(manager.pid)
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  manager?.kill('SIGKILL')
  await untilNone(() => left.filter(isRunning))
  place.remove()
})

interface Managed {
  readonly first: { readonly port: number; readonly pid: number }
  readonly notices: string[][]
  readonly exits: number[]
  stop(): void
}

/** `socket`: what it is given to listen at; `open` is one that everybody can reach. */
async function manage(socket: 'loopback' | 'open' | 'none', address = join(place.root, 'notify')): Promise<Managed> {
  const port = socket === 'none' ? ['--port', '0'] : []
  const child = spawn('python3', [MANAGER, address, socket, process.execPath, PROGRAM, 'serve', ...port], {
    cwd: place.root,
    env: place.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  manager = child
  const [notices, exits]: [string[][], number[]] = [[], []]
  const first = await new Promise<Managed['first']>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.startsWith('{')) return
      const said = JSON.parse(line) as { port?: number; pid?: number; notice?: string[]; exit?: number }
      if (said.notice !== undefined) notices.push(said.notice)
      else if (said.exit === undefined) resolve(said as Managed['first'])
      else exits.push(said.exit)
    })
  })
  return { first, notices, exits, stop: () => child.stdin.write('\n') }
}

const untilTold = (managed: Managed, line: string, count = 1) =>
  expect.poll(() => managed.notices.flat().filter((each) => each === line).length, { timeout: PATIENCE }).toBeGreaterThanOrEqual(count)

const health = async ({ first }: Managed) => (await fetch(`http://127.0.0.1:${first.port}/v2/health`)).status

test('it says when it answers at the socket it was given, goes on saying that it is well, and says that it ends', async () => {
  const managed = await manage('loopback')
  await untilTold(managed, 'READY=1')
  expect(managed.notices[0]).toEqual([
    'READY=1',
    `STATUS=listening on http://127.0.0.1:${managed.first.port}`,
    `MAINPID=${managed.first.pid}`,
  ])
  expect(await health(managed)).toBe(200)
  await untilTold(managed, 'WATCHDOG=1', 3)
  managed.stop()
  await expect.poll(() => managed.exits, { timeout: PATIENCE }).toEqual([0])
  expect(managed.notices.map(([first]) => first)).toContain('STOPPING=1')
})

test('without a socket it listens at its own, and says so at a name without a path, too', async () => {
  const managed = await manage('none', `@svc-test-${process.pid}`)
  await untilTold(managed, 'READY=1')
  expect(await health(managed).catch(() => 'nobody there')).toBe('nobody there')
  const [, status = ''] = managed.notices[0] ?? []
  expect((await fetch(`${status.replace('STATUS=listening on ', '')}/v2/health`)).status).toBe(200)
})

test('a socket that everybody can reach is refused without a credential', async () => {
  const managed = await manage('open')
  await expect.poll(() => managed.exits, { timeout: PATIENCE }).toEqual([1])
  expect(managed.notices).toEqual([])
})

test('programs of agents do not get the socket', async () => {
  const managed = await manage('loopback')
  await untilTold(managed, 'READY=1')
  const flags = execFileSync('grep', ['flags', `/proc/${managed.first.pid}/fdinfo/3`], { encoding: 'utf8' })
  expect(Number.parseInt(flags.replace(/\D/g, ''), 8) & 0o2000000).not.toBe(0)
})
