/** Files of a host: secrets that are made once and kept, and the configuration of each program. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf } from '../credentials/bearers.js'
import type { WorkspaceKey, WorkspaceSpec } from '../records/machines.js'
import type { StartOptions } from './options.js'

export const WORKSPACES: readonly WorkspaceKey[] = [
  { tenant: 'acme', workspace: 'alpha' },
  { tenant: 'globex', workspace: 'beta' },
]
export const SPEC: WorkspaceSpec = { image: 'svc', region: 'here', vcpus: 1, memory_mib: 1024, disk_gib: 10 }

export interface Plan {
  readonly ports: {
    readonly database: number
    readonly bridge: number
    readonly controllers: readonly number[]
    readonly workers: readonly number[]
  }
  readonly bridgeFile: string
  readonly controllerFiles: readonly string[]
  readonly databaseFile: string
  readonly bridgeBearer: string
  readonly applications: readonly { readonly tenant: string; readonly bearer: string }[]
  readonly password: string
}

export function makePlan(options: StartOptions): Plan {
  const at = (name: string) => join(options.data, name)
  const [database = 0, bridge = 0, one = 0, two = 0, workersOne = 0, workersTwo = 0] = Array.from(
    { length: 6 },
    (_, index) => options.port + index,
  )
  const text = (name: string) => secret(at(`secret-${name}`), () => randomBytes(24).toString('base64url')).toString()
  const bytes = (name: string) => (secret(at(`secret-${name}`), () => randomBytes(32)), at(`secret-${name}`))
  const password = text('database')
  const databaseFile = write(at('database-url'), `postgres://svc:${password}@127.0.0.1:${database}/postgres`)
  const bridgeBearer = text('bridge')
  const applications = WORKSPACES.map(({ tenant }) => ({ tenant, bearer: text(`application-${tenant}`) }))
  const keys = { signing: bytes('signing-seed'), grants: bytes('grant-key'), workers: bytes('worker-key') }
  const isolated = options.driver === 'podman'
  const capabilities = {
    isolation: 'container',
    cpu_limit: isolated,
    memory_limit: isolated,
    disk_limit: false,
    durable_workspace: true,
    stop_start: true,
  }

  const bridgeFile = json(at('bridge.json'), {
    provider: options.driver,
    listen: { host: '127.0.0.1', port: bridge },
    data: options.data,
    coordinators: [{ sha256: digestOf(bridgeBearer) }],
    workerKeyFile: keys.workers,
    hosts: [workersOne, workersTwo].map((port) => ({ host: '127.0.0.1', port })),
    workerConfig: options.config,
    driver: driverOf(options),
  })
  const controllerFiles = [
    { port: one, workers: workersOne },
    { port: two, workers: workersTwo },
  ].map(({ port, workers }, index) =>
    json(at(`controller-${index + 1}.json`), {
      id: `controller-${index + 1}`,
      listen: { host: '127.0.0.1', port },
      baseUrl: `http://127.0.0.1:${port}`,
      databaseFile,
      signingSeedFile: keys.signing,
      grantKeyFile: keys.grants,
      applications: applications.map(({ tenant, bearer }) => ({
        sha256: digestOf(bearer),
        tenant,
        subject: `user@${tenant}`,
        actorType: 'human',
        scopes: ['agent:read', 'agent:use'],
      })),
      provider: { name: options.driver, url: `http://127.0.0.1:${bridge}`, bearerFile: at('secret-bridge'), capabilities },
      workers: { listen: { host: '127.0.0.1', port: workers }, keyFile: keys.workers, models: options.models },
      launch: { root: '/workspace', stateRoot: '/state' },
      times: options.times,
    }),
  )
  const ports = { database, bridge, controllers: [one, two], workers: [workersOne, workersTwo] }
  return { ports, bridgeFile, controllerFiles, databaseFile, bridgeBearer, applications, password }
}

function driverOf({ driver, svc, main, isolation, podman, podmanRun }: StartOptions): object {
  const programs = { package: svc, main, inside: fileURLToPath(new URL('.', import.meta.url)) }
  return driver === 'bubblewrap'
    ? { kind: driver, programs, isolation }
    : { kind: driver, programs, options: podman, runOptions: podmanRun }
}

function secret(file: string, make: () => string | Buffer): Buffer {
  if (!existsSync(file)) write(file, make())
  return readFileSync(file)
}

const json = (file: string, document: object) => write(file, JSON.stringify(document, undefined, 2))

function write(file: string, content: string | Buffer): string {
  writeFileSync(file, content, { mode: 0o600 })
  return file
}
