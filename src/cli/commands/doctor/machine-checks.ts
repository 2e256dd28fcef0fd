/** Checks of this machine that need no server: Node, directories, programs, native parts. */
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import { nodePaths } from '../../../platform/node/paths.js'
import { readProcess } from '../../../platform/node/process/process-table.js'
import { createCommandSandbox } from '../../../platform/confinement/confined-command.js'
import { refuseOrphanedLog } from '../../../store/disk/state-directory.js'
import { whyUnwritable } from '../../../store/disk/trial.js'
import { unreadValues, unreadVariables } from '../../../protocol/system/variables.js'
import { type Finding, finding } from '../../findings.js'
import { messageOf } from '../../../protocol/message-of.js'

const OLDEST_NODE = [20, 19] as const
const require = createRequire(import.meta.url)
const execute = promisify(execFile)

/** One finding per part of the machine svc relies on. */
export function inspectMachine(): Promise<Finding[]> {
  const { state } = nodePaths(process.env)
  return Promise.all([
    finding('node', nodeVersion),
    finding('platform', () => platformOf(process.platform, process.arch), 'warning'),
    finding('environment', environment, 'warning'),
    finding('state directory', () => stateDirectory(state)),
    finding('database', () => database(join(state, 'agent.sqlite3'))),
    ...(existsSync(join(state, 'search.sqlite3'))
      ? [finding('search index', () => searchIndex(join(state, 'search.sqlite3')), 'warning')]
      : []),
    finding('ripgrep', async () => firstLine((await import('@vscode/ripgrep')).rgPath, ['--version'])),
    finding('git', () => firstLine('git', ['--version']), 'warning'),
    finding('shell parser', shellParser),
    finding('process table', processTable, 'warning'),
    finding('sandbox', sandbox, 'warning'),
  ])
}

function processTable(): string {
  if (readProcess(process.pid) !== undefined) return 'what leaves its process group is found'
  throw new Error('there is no /proc on this system: what a command starts in a session of its own outlives the command')
}

async function sandbox(): Promise<string> {
  const missing = await createCommandSandbox(createNodeEffects(), { reasons: async () => [] }).whyMissing()
  if (missing !== undefined) throw new Error(`permission.sandbox cannot be "on" here: ${missing}`)
  return 'bubblewrap works: permission.sandbox can be "on"'
}

function nodeVersion(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [needMajor, needMinor] = OLDEST_NODE
  if (major < needMajor || (major === needMajor && minor < needMinor)) {
    throw new Error(`Node ${process.versions.node} is too old; ${needMajor}.${needMinor} or newer is needed`)
  }
  return process.versions.node
}

/** What is said of each in docs/operations.md, Platforms. */
function platformOf(platform: string, architecture: string): string {
  const name = `${platform} ${architecture}`
  if (platform === 'linux') return architecture === 'x64' ? `${name}: tested` : `${name}: not tested; nothing is known to be missing`
  if (platform === 'darwin')
    throw new Error(`${name} is not tested: there is no sandbox of commands, and a command can leave its process group`)
  throw new Error(`${name} is not supported: svc needs process groups and sockets of a Unix`)
}

function environment(): string {
  const unread = unreadVariables(process.env)
  const problems = [
    ...(unread.length > 0 ? [`${unread.join(', ')}: set without effect, this svc does not read ${unread.length > 1 ? 'them' : 'it'}`] : []),
    ...unreadValues(process.env).map(({ name, problem }) => `${name}: ${problem}`),
  ]
  if (problems.length > 0) throw new Error(problems.join('; '))
  return 'every variable of svc that is set is read'
}

function stateDirectory(state: string): string {
  if (!existsSync(state)) {
    accessSync(nearestExisting(state), constants.W_OK)
    return `${state} (made by the first start)`
  }
  accessSync(state, constants.R_OK | constants.W_OK)
  const refused = whyUnwritable(state) // a disk that turned read-only gives access, and takes nothing
  if (refused !== undefined) throw new Error(`${state} cannot be written (${refused})`)
  const mode = statSync(state).mode & 0o777
  if ((mode & 0o077) !== 0) throw new Error(`${state} can be read by other users (mode ${mode.toString(8)}); run: chmod 700 ${state}`)
  return state
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

/** Reads only, so that it can look while a server writes. */
async function database(path: string): Promise<string> {
  const [{ Database }, { storeFault }] = await Promise.all([
    import('../../../store/disk/driver.js'),
    import('../../../store/disk/faults.js'),
  ])
  refuseOrphanedLog(path)
  const open = (file: string, options: { readonly readonly?: boolean }) => {
    try {
      return new Database(file, { ...options, timeout: 1000 })
    } catch (error) {
      throw storeFault(error)
    }
  }
  if (!existsSync(path)) {
    open(':memory:', {}).close()
    return `${path} (made by the first start)`
  }
  const handle = open(path, { readonly: true })
  try {
    const verdict = String(handle.pragma('quick_check(1)', { simple: true }))
    if (verdict !== 'ok') throw new Error(`${path} is damaged: ${verdict}`)
    return `${path}, ${Math.ceil(statSync(path).size / 1024)} KiB, sound`
  } finally {
    handle.close()
  }
}

/** A damaged one costs nothing but time: the server discards it, and makes it again. */
async function searchIndex(path: string): Promise<string> {
  try {
    return await database(path)
  } catch (error) {
    throw new Error(`${messageOf(error)}; the server makes it again from the conversations`, {
      cause: error,
    })
  }
}

async function shellParser(): Promise<string> {
  const { Language, Parser } = await import('web-tree-sitter')
  await Parser.init()
  await Language.load(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  return 'loads'
}

async function firstLine(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, { timeout: 5000 }).catch((error: unknown) => {
    throw new Error(`${program} does not run: ${messageOf(error)}`)
  })
  return stdout.split('\n')[0] ?? ''
}
