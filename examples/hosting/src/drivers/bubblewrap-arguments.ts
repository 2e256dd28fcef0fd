/** What a machine of bubblewrap sees: the programs of this machine to read, its own volume, and nothing else. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Allocation } from '../records/machines.js'
import { AGENT_PORT } from '../inside/ports.js'
import { commandLine, environmentOf, type Ports, WITHIN } from './launch.js'
import { shortName } from './names.js'

export interface Folders {
  /** Of all machines, with what lies beside it. */
  readonly all: string
  readonly root: string
  readonly state: string
  readonly run: string
  readonly launch: string
}

export interface ProgramPlaces {
  /** The package of svc, its `dist/main.js` in it. */
  readonly package: string
  /** `inside.js` stands there. */
  readonly inside: string
  /** Of the worker, below `package`. */
  readonly main: string
}

/** `off` is the positive control of the tests of isolation: the same worker, and it sees the network and the files of the host. */
export type Isolation = 'on' | 'off'

/** Without a network of its own a worker has to leave the ports of another one alone. */
function portsOf({ owner }: Allocation, isolation: Isolation): Ports {
  const agent = isolation === 'on' ? AGENT_PORT : 32_000 + (Number.parseInt(shortName(owner).slice(0, 4), 16) % 8_000) * 2
  return { agent, host: agent + 1 }
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64']
const SETTINGS = ['/etc/ld.so.cache', '/etc/ssl', '/etc/alternatives', '/etc/ca-certificates']

export function bubblewrapArguments(
  allocation: Allocation,
  folders: Folders,
  programs: ProgramPlaces,
  isolation: Isolation,
): readonly string[] {
  const { root = '/workspace', state_root = '/state' } = allocation.launch ?? {}
  const readable = (path: string, at = path) => (existsSync(path) ? ['--ro-bind', path, at] : [])
  const environment = Object.entries(environmentOf(allocation)).flatMap(([name, value]) => ['--setenv', name, value])
  return [
    ['--unshare-user', '--uid', '1000', '--gid', '1000', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ['--new-session', '--cap-drop', 'ALL', '--clearenv', ...environment],
    [...SYSTEM, ...SETTINGS].flatMap((path) => readable(path)),
    ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    isolation === 'on' ? ['--unshare-net'] : ['--bind', folders.all, folders.all],
    readable(process.execPath),
    ['--bind', folders.root, root, '--bind', folders.state, state_root, '--bind', folders.run, WITHIN.run],
    ['--ro-bind', folders.launch, WITHIN.launch],
    ['--ro-bind', programs.package, WITHIN.package, '--ro-bind', dirname(`${programs.inside}/.`), WITHIN.inside],
    [
      '--chdir',
      root,
      '--info-fd',
      '3',
      '--',
      process.execPath,
      ...commandLine(`${WITHIN.package}/${programs.main}`, portsOf(allocation, isolation)),
    ],
  ].flat()
}
