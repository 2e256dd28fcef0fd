/** The programs of language servers, as the door to programs of workspaces knows them (choice 34). */
import type { NativeHost } from '../../ports/plugin.js'
import type { ProjectProgram } from '../../ports/programs.js'
import { isRecord } from '../../protocol/text/json.js'
import type { ConfiguredAdapter } from './configured.js'

/** What a build tool is asked for the project of a file. */
export const CARGO = ['cargo', 'metadata', '--no-deps', '--offline', '--format-version', '1'] as const

/** Undefined for a server that runs already, and is reached. */
export type ProgramOf = (directory: string, adapter: ConfiguredAdapter) => Promise<ProjectProgram | undefined>

export function createProgramOf({ installationConfig }: Pick<NativeHost, 'installationConfig'>): ProgramOf {
  return async (directory, { id, command, endpoint, env, rootStrategy, isExplicit }) => {
    if (endpoint !== undefined) return undefined
    const named = (await installationConfig())['lsp']
    return {
      kind: 'language-server',
      name: id,
      directory,
      commands: [command, ...(rootStrategy === 'cargoMetadata' ? [CARGO] : [])],
      more: env,
      isNamed: isExplicit && isRecord(named) && Object.hasOwn(named, id),
      advice: `accept it with "svc lsp accept ${id}", or name it in the configuration of the installation ("lsp": { "${id}": {} })`,
    }
  }
}
