/** The hosting example as its page says to start it: a database, a bridge, two controllers, two workspaces, all on free ports. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server as NetServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PATIENCE } from '../../fakes/patience.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { openStream, type Stream, type StreamQuery } from '../server/stream.js'
import { mentioning, untilNone } from '../server/processes.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PACKAGES = process.env['SVC_TEST_HOSTING'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'svc-test-hosting')

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- it is looked at by what a test expects of it
  readonly body: any
}

interface Connection {
  readonly baseUrl: string
  readonly bearer: string
  readonly expiresAt: number
  readonly root: string
  readonly runtimeId: string
  readonly workerGeneration: number
  readonly handle: object
}

/** A workspace as its users have it. */
export interface User {
  readonly connection: Connection
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** `GET` or `POST` that must be answered 200 or 204. */
  must<T>(method: string, path: string, body?: unknown): Promise<T>
  stream(query?: StreamQuery): Promise<Stream>
  /** The same by way of another controller. */
  by(controller: number): User
}

export interface Host {
  readonly data: string
  readonly controllers: readonly string[]
  readonly bridge: string
  /** Where the first controller hears workers. */
  readonly workers: string
  /** What `parts.js` of the example offers. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a program of its own, with packages of its own
  readonly parts: any
  /** What the application of a tenant asks; `operation` is the last part of the path. */
  ask(tenant: string, workspace: string, operation: string, body?: unknown, controller?: number): Promise<Answer>
  connect(tenant: string, workspace: string, controller?: number): Promise<User>
  /** SIGKILL. */
  kill(controller: number): Promise<void>
  /** Starts one that was killed. */
  revive(controller: number): Promise<void>
  killBridge(): Promise<void>
  reviveBridge(): Promise<void>
  /** Ends the machine of a workspace as a fault does. */
  killWorker(tenant: string, workspace: string): Promise<void>
  restartDatabase(): void
  secret(name: string): string
  log(): string
  close(): Promise<void>
}

/** The end of a title of what needs a host: empty where one can be started, else the reason why it is skipped. */
export function lackingHost(): string {
  const why = whyNoHost()
  return why === undefined ? '' : ` (skipped: ${why})`
}

export function whyNoHost(): string | undefined {
  if (!hasDatabase()) return 'PostgreSQL is not installed'
  if (!hasPackages()) return '.ci/hosting has not installed the packages of the example'
  return whyNoBubblewrap()
}

export const hasPackages = (): boolean => existsSync(join(PACKAGES, 'node_modules'))

function hasDatabase(): boolean {
  return (
    spawnSync('sh', ['-c', 'command -v initdb pg_ctl postgres || ls /usr/lib/postgresql/*/bin/initdb'], { stdio: 'ignore' }).status === 0
  )
}

/** The example beside its packages, built; answers its folder. */
export function installHosting(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hosting-'))
  cpSync(join(ROOT, 'examples/hosting'), folder, { recursive: true })
  symlinkSync(join(PACKAGES, 'node_modules'), join(folder, 'node_modules'))
  const { status, stderr } = spawnSync(process.execPath, ['build.mjs'], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the example could not be built: ${stderr}`)
  return folder
}

interface Told {
  readonly bridge: { readonly url: string; readonly pid: number }
  readonly ports: { readonly workers: readonly number[] }
  readonly bridgeFile: string
  readonly controllers: readonly { readonly url: string; readonly pid: number }[]
  readonly controllerFiles: readonly string[]
}

/** `options`: of `start.mjs`; `times`: of its controllers, which look at workers each second here. */
export async function openHost(options: readonly string[] = [], times: object = {}): Promise<Host> {
  const folder = installHosting()
  const data = mkdtempSync(join(tmpdir(), 'svc-host-'))
  const port = await freePorts(6)
  const starter = spawn(
    process.execPath,
    ['start.mjs', '--data', data, '--port', String(port), '--svc', ROOT, '--times', JSON.stringify({ inspect: 1, ...times }), ...options],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: data },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  await untilSaid(starter, /^ready$/m)
  const told = JSON.parse(readFileSync(join(data, 'host.json'), 'utf8')) as Told
  const urls = told.controllers.map(({ url }) => url)
  const pids = told.controllers.map(({ pid }) => pid)
  const secret = (name: string) => readFileSync(join(data, `secret-${name}`), 'utf8')
  const revived: ChildProcess[] = []
  const bridges: ChildProcess[] = []
  const streams: Stream[] = []

  async function ask(tenant: string, workspace: string, operation: string, body?: unknown, controller = 0): Promise<Answer> {
    const bearer = secret(`application-${tenant}`)
    const url = `${urls[controller]}/v1/workspaces/${workspace}/runtime/${operation}`
    return call(
      url,
      operation === 'status' ? 'GET' : 'POST',
      { authorization: `Bearer ${bearer}` },
      operation === 'status' ? undefined : (body ?? {}),
    )
  }

  function user(connection: Connection): User {
    const identity = { authorization: `Bearer ${connection.bearer}`, 'x-svc-directory': connection.root }
    const self: User = {
      connection,
      call: (method, path, body, headers) => call(`${connection.baseUrl}${path}`, method, { ...identity, ...headers }, body),
      async must<T>(method: string, path: string, body?: unknown) {
        const answer = await self.call(method, path, body)
        if (answer.status !== 200 && answer.status !== 204) {
          throw new Error(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}\n${host.log()}`)
        }
        return answer.body as T
      },
      async stream(query) {
        const stream = await openStream(connection.baseUrl, query, identity)
        streams.push(stream)
        return stream
      },
      by: (controller) => user({ ...connection, baseUrl: connection.baseUrl.replace(/^http:\/\/[^/]+/, urls[controller] ?? '') }),
    }
    return self
  }

  const host: Host = {
    data,
    controllers: urls,
    bridge: told.bridge.url,
    workers: `http://127.0.0.1:${told.ports.workers[0]}`,
    parts: (await import(pathToFileURL(join(folder, 'dist/parts.js')).href)) as unknown,
    ask,
    async connect(tenant, workspace, controller = 0) {
      const { status, body } = await ask(tenant, workspace, 'connection', {}, controller)
      if (status !== 200) throw new Error(`no connection to ${workspace}: ${status} ${JSON.stringify(body)}\n${host.log()}`)
      return user(body as Connection)
    },
    async kill(controller) {
      const pid = pids[controller] ?? 0
      process.kill(pid, 'SIGKILL')
      await untilNone(() => mentioning(told.controllerFiles[controller] ?? ''))
    },
    async revive(controller) {
      const file = told.controllerFiles[controller] ?? ''
      const child = spawn(process.execPath, [join(folder, 'dist/controller.js'), file], { stdio: ['ignore', 'pipe', 'pipe'] })
      revived.push(child)
      pids[controller] = child.pid ?? 0
      await untilSaid(child, /listening/)
    },
    async killBridge() {
      process.kill(told.bridge.pid, 'SIGKILL')
      await untilNone(() => mentioning(told.bridgeFile))
    },
    async reviveBridge() {
      const child = spawn(process.execPath, [join(folder, 'dist/bridge.js'), told.bridgeFile], { stdio: ['ignore', 'pipe', 'pipe'] })
      bridges.push(child)
      await untilSaid(child, /listening/)
    },
    async killWorker(tenant, workspace) {
      const short = shortName(tenant, workspace)
      const { pid } = JSON.parse(readFileSync(join(data, 'm', short, 'process.json'), 'utf8')) as { readonly pid: number }
      process.kill(pid, 'SIGKILL')
      // Not until there is none: its successor may be there at once.
      await untilNone(() => mentioning(`${data}/m/${short}`).filter((each) => each.pid === pid))
    },
    restartDatabase: () => restart(data),
    secret,
    log: () => ['bridge', 'controller-1', 'controller-2'].map((name) => readFileSync(join(data, `${name}.log`), 'utf8')).join('\n'),
    async close() {
      for (const stream of streams) stream.close()
      // Whoever drives workers first, or they would be replaced; then all that the starter has begun, its machines by way of whichever bridge.
      for (const child of revived) await end(child)
      await end(starter)
      for (const child of bridges) await end(child)
      const left = await untilNone(() => mentioning(data))
      rmSync(data, { recursive: true, force: true })
      rmSync(folder, { recursive: true, force: true })
      if (left.length > 0) throw new Error(`processes outlived their host: ${JSON.stringify(left)}`)
    },
  }
  return host
}

function shortName(tenant: string, workspace: string): string {
  return createHash('sha256').update(`${tenant}/${workspace}`).digest('hex').slice(0, 16)
}

export async function call(url: string, method: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(2 * PATIENCE),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, body: isJson ? (JSON.parse(text) as unknown) : text }
}

function restart(data: string): void {
  const folder = join(data, 'postgres')
  const bin = spawnSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1'], { encoding: 'utf8' }).stdout.trim()
  const program = bin === '' ? 'pg_ctl' : join(bin, 'pg_ctl')
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const args = ['restart', '-m', 'immediate', '-w', '-D', join(folder, 'data'), '-l', join(folder, 'postgres.log')]
  const { status } = spawnSync(program, args, { ...user, cwd: folder, stdio: 'ignore', env: { PATH: process.env['PATH'] } })
  if (status !== 0) throw new Error('the database did not come back')
}

async function untilSaid(child: ChildProcess, wanted: RegExp): Promise<void> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (wanted.test(said)) resolve()
    })
    child.once('close', () => reject(new Error(`the host did not start: ${said}`)))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}

/** The first of so many that nobody listens at. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const servers = await Promise.all(Array.from({ length: count }, (_, index) => listen(first + index)))
    await Promise.all(servers.flatMap((server) => (server === undefined ? [] : [new Promise((resolve) => server.close(resolve))])))
    if (servers.every((server) => server !== undefined)) return first
  }
}

function listen(port: number): Promise<NetServer | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
