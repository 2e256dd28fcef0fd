/**
 * The sandbox of commands that agents run (`permission.sandbox`): the session directory is writable, the system and the
 * homes of tools are read-only, and nothing else is there.
 *
 * I1 Where there is no sandbox nothing runs: a command is never started outside of it instead.
 * I2 What is hidden stays hidden, whatever was allowed: a place that lies in it or holds it is not shown.
 * I3 The group of a command ends with signals as outside of the sandbox, so the first process inside does not die with
 *    bubblewrap: what is asked to end may do so in peace, and the end of the first process ends everything inside.
 */
import { dirname } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'
import type { ProtectedFiles } from '../../ports/plugin.js'
import type { CommandSandbox, SandboxedCommand } from '../../ports/doors.js'
import {
  bubblewrapLine,
  createBubblewrap,
  directoriesOf,
  type Mount,
  OWN,
  PROGRAMS,
  readOnly,
  type SandboxEffects,
  systemMount,
  writable,
} from './bubblewrap.js'
import { hiddenPlaces, PRIVATE, SYSTEM, TOOLS, UNSET } from './places.js'
import { repositoryMounts } from './repository-mounts.js'
import { type WorkspaceMounts, workspaceMounts } from './workspace-mounts.js'

type CommandEffects = SandboxEffects & Pick<Effects, 'paths' | 'env'>

export type CommandSandboxes = Omit<CommandSandbox, 'isOn'>

const ADVICE = 'install the package "bubblewrap", or set permission.sandbox to "off"'

/** One for the whole server. */
export function createCommandSandbox(effects: CommandEffects, protectedFiles: ProtectedFiles): CommandSandboxes {
  const { files, paths } = effects
  /** Whole outputs of tools, which the model is told to read. */
  const outputs = `${paths.state}/tool-output`
  const tools = TOOLS.map((name) => `${paths.home}/${name}`)
  const trial = async (bwrap: string, network: boolean) => {
    const mounts = [...(await systemMounts(files)), ...OWN, readOnly(dirname(bwrap))]
    return bubblewrapLine({ program: bwrap, args: ['--version'], cwd: '/', network, mounts })
  }
  const bubblewrap = createBubblewrap(effects, { trial, advice: ADVICE })

  const mountsOf = async (command: SandboxedCommand, hidden: readonly string[]): Promise<WorkspaceMounts> => {
    const { workspace, writes, searchPath, within } = command
    const isMine = (path: string) => within === undefined || within.some((root) => isWithin(root, path))
    const mayShow = (path: string) => !hidden.some((place) => isWithin(place, path) || isWithin(path, place)) // I2
    const shown: Mount[] = [...(await systemMounts(files, within === undefined ? SYSTEM : OF_ALL)), ...OWN, empty('/var/tmp')]
    const isShown = (path: string) => shown.some(({ at, args }) => args[0] !== '--tmpfs' && isWithin(at, path))
    const show = async (path: string) => {
      const target = await files.realPath(path).catch(() => undefined)
      if (target !== undefined && !isShown(path) && !hidden.some((place) => isWithin(place, target))) shown.push(readOnly(path, target))
    }
    if (!isWithin(workspace, paths.home) && paths.home !== '/') {
      shown.push(empty(paths.home))
      if (within === undefined) for (const path of tools) await show(path)
    }
    const programs = searchPath.split(':').filter((path) => path.startsWith('/') && mayShow(path))
    for (const path of [...programs, ...(await directoriesOf(effects, command.program))]) await show(path)
    if (command.network) shown.push(...(await resolverMounts(files)))
    const repository = await repositoryMounts(files, { workspace, allowed: writes, mayShow: (path) => isMine(path) && mayShow(path) })
    const view = { workspace, allowed: writes, home: paths.home, isInRepository: repository.isThere }
    const own = await workspaceMounts(files, protectedFiles, view)
    if ('unavailable' in own) return own
    shown.push(...own.mounts, ...repository.mounts)
    for (const path of command.directories) {
      if (isMine(path) && mayShow(path) && !isWithin(workspace, path) && (await files.stat(path)) !== undefined) shown.push(writable(path))
    }
    for (const path of command.reads.filter((each) => isMine(each) && !isWithin(workspace, each))) {
      if (mayShow(path)) await show(path)
      else if (isWithin(outputs, path) && (await files.realPath(path).catch(() => '')) === path) shown.push(readOnly(path))
    }
    return { mounts: [...shown, ...(await masks(files, hidden, isShown))], holds: [...own.holds, ...repository.holds] }
  }

  return {
    placeOf(path) {
      if (tools.some((root) => isWithin(root, path))) return 'read-only'
      if (isWithin(paths.home, path) && paths.home !== '/') return undefined
      if (PRIVATE.some((root) => isWithin(root, path))) return 'private'
      return SYSTEM.some((root) => isWithin(root, path)) ? 'read-only' : undefined
    },
    async wrap(command) {
      const found = await bubblewrap.find(command.network)
      if ('missing' in found) return { unavailable: found.missing } // I1
      const hidden = (await canonical(files, hiddenPlaces(effects))).filter((place) => command.own?.includes(place) !== true)
      const over = hidden.find((place) => isWithin(place, command.workspace))
      if (over !== undefined) return { unavailable: `the session directory lies in ${over}, which the sandbox hides` }
      const { program, args, cwd, network } = command
      const own = await mountsOf(command, hidden)
      if ('unavailable' in own) return own
      const line = bubblewrapLine({ program, args, cwd, network, mounts: own.mounts })
      return { program: found.bwrap, args: [...UNSET.flatMap((name) => ['--unsetenv', name]), ...line], holds: own.holds }
    },
    async whyMissing() {
      const found = await bubblewrap.find(false)
      return 'missing' in found ? found.missing : undefined
    },
  }
}

type Files = Effects['files']

/** Of the system, without where directories of tenants may lie. */
const OF_ALL = SYSTEM.filter((path) => path !== '/opt')

async function systemMounts(files: Files, system = SYSTEM): Promise<readonly Mount[]> {
  const others = system.filter((path) => !PROGRAMS.includes(path))
  return (await Promise.all([...PROGRAMS, ...others].map((path) => systemMount({ files }, path)))).flat()
}

/** What `/etc/resolv.conf` leads to, often outside of `/etc`. */
async function resolverMounts(files: Files): Promise<readonly Mount[]> {
  const target = await files.realPath('/etc/resolv.conf').catch(() => '/etc')
  return isWithin('/etc', target) ? [] : [readOnly(target)]
}

function empty(path: string): Mount {
  return { at: path, args: ['--tmpfs', path] }
}

/** As they are called and as they really are. */
async function canonical(files: Files, paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map(async (path) => files.realPath(path).catch(() => path)))
  return [...new Set([...paths, ...real])]
}

/** Hidden places inside what is shown: a directory is empty, and so is a file. */
async function masks(files: Files, hidden: readonly string[], isShown: (path: string) => boolean): Promise<readonly Mount[]> {
  const each = await Promise.all(
    hidden.filter(isShown).map(async (path): Promise<Mount[]> => {
      const stat = await files.stat(path)
      if (stat === undefined || (await files.realPath(path).catch(() => '')) !== path) return []
      return stat.kind === 'directory' ? [{ at: path, args: ['--tmpfs', path, '--remount-ro', path] }] : [readOnly(path, '/dev/null')]
    }),
  )
  return each.flat()
}
