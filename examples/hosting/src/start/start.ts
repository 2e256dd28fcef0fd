/** Starts a host on this machine, and ends all of it on SIGINT or SIGTERM. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../database/open.js'
import { createProvider } from '../provider/provider.js'
import { startCluster } from './cluster.js'
import { readOptions } from './options.js'
import { makePlan, SPEC, WORKSPACES } from './plan.js'

const options = readOptions(process.argv.slice(2))
mkdirSync(options.data, { recursive: true })
// The database is another user's when root starts it: it has to get to its folder.
chmodSync(options.data, 0o711)
const plan = makePlan(options)
const more = Array.from({ length: options.more }, (_, index) => ({ tenant: 'acme', workspace: `w-${index + 1}` }))
const workspaces = [...WORKSPACES, ...more]
const cluster = startCluster({ folder: join(options.data, 'postgres'), port: plan.ports.database, password: plan.password })
const database = await openDatabase(cluster.url)
for (const key of workspaces) await database.bindings.admit(key, SPEC)

const bridge = await launch('bridge', plan.bridgeFile)
const controllers = await Promise.all(plan.controllerFiles.map((file) => launch('controller', file)))
const urls = plan.ports.controllers.map((port) => `http://127.0.0.1:${port}`)
writeFileSync(
  join(options.data, 'host.json'),
  JSON.stringify({
    ...plan,
    controllers: controllers.map(({ pid }, index) => ({ pid, url: urls[index] })),
    bridge: { pid: bridge.pid, url: `http://127.0.0.1:${plan.ports.bridge}` },
    workspaces,
  }),
  { mode: 0o600 },
)

process.stdout.write(`
Controllers: ${urls.join(', ')}
Workspaces:  ${WORKSPACES.map(({ tenant, workspace }) => `${workspace} (of ${tenant})`).join(', ')}
Bearers of their applications: ${options.data}/secret-application-{${WORKSPACES.map(({ tenant }) => tenant).join(',')}}

curl -s -X POST ${urls[0]}/v1/workspaces/alpha/runtime/connection -d '{}' -H 'content-type: application/json' \\
  -H "authorization: Bearer $(cat ${options.data}/secret-application-acme)"

ready
`)

async function stop(): Promise<void> {
  await Promise.all(controllers.map(end))
  const provider = createProvider({ url: `http://127.0.0.1:${plan.ports.bridge}`, bearer: plan.bridgeBearer })
  for (const key of workspaces) {
    const { allocation, status } = (await database.bindings.find(key))?.binding ?? {}
    if (allocation !== undefined && status != null) await provider.ask('stop', allocation, status.handle).catch(() => undefined)
  }
  await end(bridge)
  await database.close()
  cluster.stop()
  process.exit(0)
}
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => void stop())

/** Resolves when it says that it listens. */
async function launch(program: string, file: string): Promise<ChildProcess> {
  const log = openSync(file.replace(/json$/, 'log'), 'a', 0o600)
  // In a group of its own: what a terminal interrupts is this program, which ends the others in their order.
  const child = spawn(process.execPath, ['--enable-source-maps', fileURLToPath(new URL(`${program}.js`, import.meta.url)), file], {
    stdio: ['ignore', 'pipe', log],
    detached: true,
  })
  const ended = once(child, 'close').then(() => Promise.reject(new Error(`${program} did not start: see ${file.replace(/json$/, 'log')}`)))
  ended.catch(() => undefined)
  const listening = new Promise<void>((resolve) => child.stdout?.on('data', () => resolve()))
  await Promise.race([listening, ended])
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}
