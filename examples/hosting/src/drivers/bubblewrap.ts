/**
 * Machines that are processes in bubblewrap, each in namespaces of its own, with a volume that is a folder.
 *
 * Owns the folders below `data` and the processes it has started. They outlive the bridge: the file `process.json` says which they are.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import type { NetConnectOpts } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Allocation } from '../records/machines.js'
import { bubblewrapArguments, type Folders, type Isolation, type ProgramPlaces } from './bubblewrap-arguments.js'
import type { Driver, Place } from './driver.js'
import { endedHere } from './ending.js'
import { type Front, isAnswering, openFront } from './front.js'
import { launchFiles, type LaunchParts, writeLaunchFiles } from './launch.js'
import { machineName, shortName } from './names.js'
import { childrenOf, identify, isAlive, signal } from './process-table.js'

export interface BubblewrapOptions extends LaunchParts {
  readonly data: string
  readonly programs: ProgramPlaces
  readonly hosts: readonly NetConnectOpts[]
  readonly isolation: Isolation
}

/** The process that is the first in the namespace: with it everything in there ends. */
const Started = z.strictObject({ generation: z.int(), pid: z.int(), startedAt: z.string(), port: z.int() })
type Started = z.infer<typeof Started>

const GRACE = 15_000
const LOOK = 40

export function bubblewrapDriver(options: BubblewrapOptions): Driver {
  const fronts = new Map<string, Front>()
  const homeOf = (allocation: Allocation) => join(options.data, shortName(allocation.owner))
  const fileOf = (allocation: Allocation) => join(homeOf(allocation), 'process.json')

  /** What runs in the folder of a workspace, of whatever generation. */
  async function running(allocation: Allocation): Promise<Started | undefined> {
    const text = await readFile(fileOf(allocation), 'utf8').catch(() => undefined)
    const found = text === undefined ? undefined : Started.parse(JSON.parse(text))
    return found !== undefined && isAlive(found) ? found : undefined
  }

  async function started(allocation: Allocation): Promise<Started | undefined> {
    const found = await running(allocation)
    return found?.generation === allocation.generation ? found : undefined
  }

  async function frontOf(allocation: Allocation, port: number): Promise<Front> {
    const name = machineName(allocation)
    const front = fronts.get(name) ?? (await openFront(join(homeOf(allocation), 'run'), port, options.hosts))
    fronts.set(name, front)
    return front
  }

  async function inspect(allocation: Allocation): Promise<Place> {
    const found = await started(allocation)
    if (found === undefined) return { state: 'stopped', ready: false }
    const front = await frontOf(allocation, found.port)
    if (front.port !== found.port) await note(allocation, { ...found, port: front.port })
    const baseUrl = `http://127.0.0.1:${front.port}/`
    return { state: 'running', ready: await isAnswering(baseUrl, 2000), baseUrl }
  }

  async function note(allocation: Allocation, found: Started): Promise<void> {
    await writeFile(`${fileOf(allocation)}.new`, JSON.stringify(found), { mode: 0o600 })
    await rename(`${fileOf(allocation)}.new`, fileOf(allocation))
  }

  return {
    capabilities: {
      isolation: 'container',
      cpu_limit: false,
      memory_limit: false,
      disk_limit: false,
      durable_workspace: true,
      stop_start: true,
    },
    transport: 'development_loopback_http',
    machineId: machineName,
    async start(allocation) {
      const other = await running(allocation)
      if (other !== undefined && other.generation !== allocation.generation) await end(other)
      if ((await started(allocation)) === undefined) {
        const folders = await makeFolders(homeOf(allocation))
        await writeLaunchFiles(folders.launch, launchFiles(allocation, options))
        const front = await frontOf(allocation, 0)
        const pid = await launch(homeOf(allocation), bubblewrapArguments(allocation, folders, options.programs, options.isolation))
        const id = identify(pid)
        if (id === undefined) throw new Error('the machine ended while it was started')
        await note(allocation, { generation: allocation.generation, ...id, port: front.port })
      }
      return inspect(allocation)
    },
    inspect,
    ...endedHere(fronts, homeOf, {
      async end(allocation) {
        const found = await started(allocation)
        if (found !== undefined) await end(found)
      },
      others: ['process.json'],
    }),
  }
}

/** What a machine may write is made by the machine: a name in there may lead anywhere. */
async function makeFolders(home: string): Promise<Folders> {
  const at = (name: string) => join(home, name)
  const folders = { root: at('root'), state: at('state'), run: at('run'), launch: at('launch') }
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 })
  return { ...folders, all: join(home, '../..') }
}

/** Starts bubblewrap and lets go of it; answers the first process of its namespace. */
async function launch(home: string, args: readonly string[]): Promise<number> {
  const log = await open(join(home, 'worker.log'), 'a', 0o600)
  try {
    const child = spawn('bwrap', args, { detached: true, stdio: ['ignore', log.fd, log.fd, 'pipe'], env: { PATH: process.env['PATH'] } })
    child.unref()
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
    const info = child.stdio[3]
    let said = ''
    const told = (async () => {
      for await (const chunk of info as AsyncIterable<Buffer>) said += String(chunk)
      return said
    })()
    const { 'child-pid': pid } = z.looseObject({ 'child-pid': z.int() }).parse(JSON.parse(await Promise.race([told, failed])))
    return pid
  } finally {
    await log.close()
  }
}

/** The worker is the child of the first process, which takes no signals but the last. */
async function end(found: Started): Promise<void> {
  for (const pid of childrenOf(found.pid)) signal(pid, 'SIGTERM')
  for (let waited = 0; waited < GRACE && isAlive(found); waited += LOOK) await sleep(LOOK)
  if (isAlive(found)) signal(found.pid, 'SIGKILL')
  while (isAlive(found)) await sleep(LOOK)
}
