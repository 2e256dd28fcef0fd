/** Which program an external agent is (subsystems l.1). */
import * as z from 'zod'
import { SvcError } from '../../protocol/errors.js'
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import type { NativeHost } from '../../ports/plugin.js'

export interface Adapter {
  readonly command: string
  readonly args: readonly string[]
  /** What of the home it keeps its own in. */
  readonly homes: readonly string[]
  /** It tells what this process of it has cost, and not what its session has. */
  readonly countsAnew: boolean
}

interface Known {
  readonly program: string
  readonly args: readonly string[]
  /** The package that has it. */
  readonly npm?: string
  readonly homes: readonly string[]
  readonly countsAnew?: true
}

export const ADAPTERS: Readonly<Record<ExternalProvider, Known>> = {
  opencode: {
    program: 'opencode',
    args: ['acp'],
    npm: 'opencode-ai',
    homes: ['.config/opencode', '.local/share/opencode', '.local/state/opencode', '.cache/opencode'],
  },
  claude: {
    program: 'claude-agent-acp',
    args: [],
    npm: '@agentclientprotocol/claude-agent-acp',
    homes: ['.claude', '.claude.json'],
    countsAnew: true,
  },
  codex: { program: 'codex-acp', args: [], npm: '@agentclientprotocol/codex-acp', homes: ['.codex'] },
}
/** Variables of the server that an agent is given beside those of every child: its own, by how they begin. */
const OWN: Readonly<Record<ExternalProvider, RegExp>> = {
  opencode: /^OPENCODE_/,
  claude: /^(?:CLAUDE|ANTHROPIC)_/,
  codex: /^(?:CODEX|OPENAI)_|^(?:MODEL_PROVIDER|NO_BROWSER)$/,
}

/** What of the environment of the server an agent is given for its own. */
export function ownVariables(provider: ExternalProvider, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (OWN[provider].test(name) && value !== undefined ? [[name, value]] : [])),
  )
}

const Words = z.array(z.string()).min(1)

/**
 * Named by the environment of the server, or on its search path. Throws `request.unprocessable` when there is none. The package runner is not
 * used: it prefers what lies in the folder it stands in, which is the workspace's word.
 */
export async function adapterOf(
  provider: ExternalProvider,
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  find: NativeHost['programs']['find'],
): Promise<Adapter> {
  const named = namedBy(provider, env)
  const { program, args, npm, homes, countsAnew = false } = ADAPTERS[provider]
  const [first, ...rest] = named ?? [program, ...args]
  const command = await find(first ?? '', directory)
  if (command !== undefined) return { command, args: rest, homes, countsAnew }
  if (named !== undefined)
    throw new SvcError(
      'request.unprocessable',
      `The program "${first ?? ''}" that ${variableOf(provider)} names is not on the search path.`,
    )
  throw new SvcError(
    'request.unprocessable',
    `The agent "${provider}" is not on this machine: there is no "${program}" on the search path. ${npm === undefined ? 'Install it' : `Install it (npm install --global ${npm})`}, or name its command in ${variableOf(provider)}.`,
  )
}

function variableOf(provider: ExternalProvider): string {
  return `SVC_EXTERNAL_${provider.toUpperCase()}_COMMAND`
}

function namedBy(provider: ExternalProvider, env: Readonly<Record<string, string | undefined>>): readonly string[] | undefined {
  const value = env[variableOf(provider)]
  if (value === undefined || value === '') return undefined
  try {
    return Words.parse(JSON.parse(value))
  } catch {
    throw new SvcError('request.unprocessable', `${variableOf(provider)} must be a JSON array of words, the program first.`)
  }
}
