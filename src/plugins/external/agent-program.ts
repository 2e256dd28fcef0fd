/** The program of an external agent is started through the door of programs that load code of a workspace (choice 34). */
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import type { ChildPipe, PipeOptions } from '../../ports/effects.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Adapter } from './adapters.js'

interface AgentProgram {
  readonly adapter: Adapter
  readonly provider: ExternalProvider
  /** Where it works. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
}

/** Variables by which an agent keeps its own elsewhere; those of every program (`XDG_*`) are not set in the sandbox. */
const MOVED = ['CODEX_HOME', 'CLAUDE_CONFIG_DIR']

export type AgentHost = Pick<NativeHost, 'effects' | 'programs' | 'sandbox'>

/**
 * In the sandbox where that is on, with the network, by which it reaches its model, with what it keeps in the home, and with the packages that
 * it is made of. Which program it is says the installation, never the workspace.
 */
export async function openAgent(
  { effects: { paths, files }, programs, sandbox }: AgentHost,
  { adapter: { command, args, homes }, provider, directory, env }: AgentProgram,
  streams: Pick<PipeOptions, 'inputBacklog' | 'onStdout' | 'onStderr'>,
): Promise<ChildPipe> {
  const words = [command, ...args]
  const program = {
    kind: 'external-agent' as const,
    name: provider,
    directory,
    commands: [words],
    isNamed: true,
    advice: 'name its command in the environment of the server',
  }
  if (!(await sandbox.isOn(directory))) return programs.open({ program, words }, { ...streams, cwd: directory, env })
  const moved = MOVED.flatMap((name) => (env[name]?.startsWith('/') === true ? [env[name]] : []))
  const directories = [...homes.map((name) => `${paths.home}/${name}`), ...moved]
  // What is not there yet cannot be shown, and what the agent kept instead would be gone with the sandbox.
  for (const path of directories) if (!path.endsWith('.json')) await files.makeDirectory(path, { mode: 0o700 })
  const reads = await Promise.all(words.filter((word) => word.startsWith('/')).map((word) => packagesOf(files, word)))
  return programs.open({ program, words, directories, reads, network: true }, { ...streams, cwd: directory, env })
}

/** The packages a file is one of; alone it is itself. */
async function packagesOf(files: AgentHost['effects']['files'], path: string): Promise<string> {
  const target = await files.realPath(path).catch(() => path)
  const at = target.indexOf('/node_modules/')
  return at === -1 ? target : target.slice(0, at + '/node_modules'.length)
}
