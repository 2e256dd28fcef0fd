/**
 * Machines that are containers of podman: no network, no capabilities, a root that cannot be written, limits of the spec.
 *
 * Owns the containers named `svc-…` and the folders below `data`. What a container is asked through are two sockets in a folder (front.ts).
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import type { NetConnectOpts } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Allocation } from '../records/machines.js'
import type { ProgramPlaces } from './bubblewrap-arguments.js'
import type { Driver, Place } from './driver.js'
import { endedHere } from './ending.js'
import { type Front, isAnswering, openFront } from './front.js'
import { commandLine, environmentOf, launchFiles, type LaunchParts, WITHIN, writeLaunchFiles } from './launch.js'
import { machineName, shortName } from './names.js'

export interface PodmanOptions extends LaunchParts {
  readonly data: string
  readonly programs: ProgramPlaces
  readonly hosts: readonly NetConnectOpts[]
  readonly options: readonly string[]
  readonly runOptions: readonly string[]
}

const run = promisify(execFile)
const GRACE = 15

export function podmanDriver(options: PodmanOptions): Driver {
  const fronts = new Map<string, Front>()
  const podman = async (...args: readonly string[]) => (await run('podman', [...options.options, ...args])).stdout.trim()
  const homeOf = ({ owner }: Allocation) => join(options.data, shortName(owner))
  const portFile = (allocation: Allocation) => join(homeOf(allocation), 'port')

  async function frontOf(allocation: Allocation): Promise<Front> {
    const name = machineName(allocation)
    const kept = fronts.get(name)
    if (kept !== undefined) return kept
    const before = Number(await readFile(portFile(allocation), 'utf8').catch(() => '0'))
    const front = await openFront(join(homeOf(allocation), 'run'), before, options.hosts)
    await writeFile(`${portFile(allocation)}.new`, String(front.port))
    await rename(`${portFile(allocation)}.new`, portFile(allocation))
    fronts.set(name, front)
    return front
  }

  /** Undefined when there is no such container. */
  async function stateOf(allocation: Allocation): Promise<string | undefined> {
    const format = ['container', 'inspect', '--format', '{{.State.Status}}', machineName(allocation)]
    return podman(...format).catch((error: unknown) => {
      if (/no such container/i.test(String((error as { stderr?: unknown }).stderr))) return undefined
      throw error
    })
  }

  async function inspect(allocation: Allocation): Promise<Place> {
    const state = await stateOf(allocation)
    if (state !== 'running') return { state: state === 'stopping' ? 'stopping' : 'stopped', ready: false }
    const baseUrl = `http://127.0.0.1:${(await frontOf(allocation)).port}/`
    return { state: 'running', ready: await isAnswering(baseUrl, 2000), baseUrl }
  }

  return {
    capabilities: {
      isolation: 'container',
      cpu_limit: true,
      memory_limit: true,
      disk_limit: false,
      durable_workspace: true,
      stop_start: true,
    },
    transport: 'development_loopback_http',
    machineId: machineName,
    async start(allocation) {
      const state = await stateOf(allocation)
      if (state !== 'running') {
        // Of whatever generation: two of them would write into one volume.
        const others = await podman('ps', '--all', '--quiet', '--filter', `name=^svc-${shortName(allocation.owner)}-`)
        for (const other of others.split('\n').filter(Boolean)) await podman('rm', '--force', '--time', String(GRACE), other)
        const home = homeOf(allocation)
        for (const each of ['root', 'state', 'run', 'launch']) await mkdir(join(home, each), { recursive: true, mode: 0o700 })
        await writeLaunchFiles(join(home, 'launch'), launchFiles(allocation, options))
        await frontOf(allocation)
        await podman(...podmanArguments(allocation, home, options))
      }
      return inspect(allocation)
    },
    inspect,
    ...endedHere(fronts, homeOf, {
      async end(allocation) {
        if ((await stateOf(allocation)) === undefined) return
        const name = machineName(allocation)
        await podman('stop', '--time', String(GRACE), name)
        await podman('rm', '--force', name)
      },
      others: ['port'],
    }),
  }
}

/** The image of a spec is one of this machine: nothing is fetched when a workspace asks. */
export function podmanArguments(
  allocation: Allocation,
  home: string,
  { programs, runOptions }: Pick<PodmanOptions, 'programs' | 'runOptions'>,
): readonly string[] {
  const { spec, launch } = allocation
  const { root = '/workspace', state_root = '/state' } = launch ?? {}
  const volume = (from: string, to: string, how = 'rw') => ['--volume', `${from}:${to}:${how}`]
  return [
    ['run', '--detach', '--name', machineName(allocation), '--pull', 'never', '--init'],
    ['--network', 'none', '--cap-drop', 'all', '--security-opt', 'no-new-privileges', '--read-only', '--tmpfs', '/tmp'],
    ['--cpus', String(spec.vcpus), '--memory', `${spec.memory_mib}m`, '--pids-limit', '2048'],
    Object.entries(environmentOf(allocation)).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    volume(join(home, 'root'), root),
    volume(join(home, 'state'), state_root),
    volume(join(home, 'run'), WITHIN.run),
    volume(join(home, 'launch'), WITHIN.launch, 'ro'),
    volume(programs.package, WITHIN.package, 'ro'),
    volume(programs.inside, WITHIN.inside, 'ro'),
    ['--workdir', root, '--stop-signal', 'SIGTERM', ...runOptions],
    [`localhost/${spec.image}`, 'node', ...commandLine(`${WITHIN.package}/${programs.main}`)],
  ].flat()
}
