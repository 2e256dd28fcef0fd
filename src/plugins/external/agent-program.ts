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

/**
 * In the sandbox where that is on, with the network, by which it reaches its model, and with what it keeps in the home. Which program it is
 * says the installation, never the workspace.
 */
export async function openAgent(
  { effects: { paths }, programs }: Pick<NativeHost, 'effects' | 'programs'>,
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
  const directories = homes.map((name) => `${paths.home}/${name}`)
  return programs.open({ program, words, directories, network: true }, { ...streams, cwd: directory, env })
}
