/** The files a worker is started with, and its command line: the same for all drivers. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sealed } from '../credentials/sealed.js'
import { AGENT_PORT, HOST_PORT } from '../inside/ports.js'
import type { Allocation } from '../records/machines.js'
import type { WorkerBearer } from '../models/credentials.js'
import { bootstrapOf } from '../records/worker.js'

/** Where a machine has what. */
export const WITHIN = { launch: '/launch', run: '/run/svc', package: '/opt/svc', inside: '/opt/inside', tls: '/tls' }

export const FILES = { bootstrap: 'bootstrap.json', key: 'verification.key', bearer: 'host.bearer', config: 'config/svc/svc.json' }

export interface LaunchFile {
  readonly name: string
  readonly content: Uint8Array
}

export interface LaunchParts {
  /** Of the installation that a worker is, without secrets. */
  readonly config: unknown
  readonly bearers: Sealed<WorkerBearer>
}

export function launchFiles(allocation: Allocation, { config, bearers }: LaunchParts): readonly LaunchFile[] {
  const { owner, generation, launch } = allocation
  if (launch == null) throw new Error('a machine without a launch descriptor')
  const bearer = bearers.seal({ owner, generation, runtimeId: launch.runtime_id, expiresAt: launch.expires_at })
  return [
    { name: FILES.bootstrap, content: Buffer.from(JSON.stringify(bootstrapOf(allocation))) },
    { name: FILES.key, content: Buffer.from(launch.verification_key, 'base64url') },
    { name: FILES.bearer, content: Buffer.from(bearer) },
    { name: FILES.config, content: Buffer.from(JSON.stringify(config)) },
  ]
}

/** Writes them; what stands there is of an earlier start, and nobody uses it any more. */
export async function writeLaunchFiles(folder: string, files: readonly LaunchFile[]): Promise<void> {
  await mkdir(join(folder, 'config/svc'), { recursive: true, mode: 0o700 })
  for (const { name, content } of files) await writeFile(join(folder, name), content, { mode: 0o600 })
}

/** Of a machine that has two sockets and no network. `program`: as it is called within the machine. */
export function commandLine(program: string, ports: Ports = { agent: AGENT_PORT, host: HOST_PORT }): readonly string[] {
  const sockets = ['agent.sock', 'host.sock'].map((name) => join(WITHIN.run, name))
  const numbers = [ports.agent, ports.host].map(String)
  return [
    join(WITHIN.inside, 'inside.js'),
    ...sockets,
    ...numbers,
    program,
    ...workerArguments(`http://127.0.0.1:${ports.host}`, ports.agent),
  ]
}

export interface Ports {
  readonly agent: number
  readonly host: number
}

/** Of a machine that is reached by https, and reaches controllers by the network. */
export function clusterCommandLine(hostUrl: string): readonly string[] {
  const program = join(WITHIN.package, 'dist/main.js')
  return [
    join(WITHIN.inside, 'inside-tls.js'),
    join(WITHIN.tls, 'tls.crt'),
    join(WITHIN.tls, 'tls.key'),
    program,
    ...workerArguments(hostUrl),
  ]
}

function workerArguments(hostUrl: string, port = AGENT_PORT): readonly string[] {
  const at = (file: string) => join(WITHIN.launch, file)
  return [
    ['serve', '--port', String(port), '--worker-bootstrap', at(FILES.bootstrap), '--worker-verification-key-file', at(FILES.key)],
    ['--worker-broker', `${hostUrl}/worker/credentials`, '--worker-broker-token-file', at(FILES.bearer)],
  ].flat()
}

export function environmentOf({ launch }: Allocation): Readonly<Record<string, string>> {
  const state = launch?.state_root ?? '/state'
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: join(state, 'home'),
    XDG_CONFIG_HOME: join(WITHIN.launch, 'config'),
    XDG_CACHE_HOME: join(state, 'cache'),
    SVC_AGENT_STATE_DIR: join(state, 'svc'),
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
  }
}
