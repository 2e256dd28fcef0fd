/** External agents: where each is on this machine, of which version, and what to install. None is started. */
import { dirname, join } from 'node:path'
import { foundProgram } from '../../../actors/host/found-program.js'
import { ADAPTERS, adapterOf } from '../../../plugins/external/adapters.js'
import type { Effects } from '../../../ports/effects.js'
import { messageOf } from '../../../protocol/message-of.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { Finding } from '../../findings.js'

const CHECK = 'external agents'
/** Folders above a program in which its package may stand. */
const ABOVE = 4
const PACKAGE_BYTES = 1024 * 1024

type Provider = Parameters<typeof adapterOf>[0]
type Machine = Pick<Effects, 'files' | 'processes'>
type Env = Readonly<Record<string, string | undefined>>

export async function inspectAgents({ directory }: { readonly directory: string }, machine: Machine, env: Env): Promise<Finding[]> {
  const states = Object.keys(ADAPTERS).map(async (provider): Promise<AgentState> => {
    try {
      const { command, args } = await adapterOf(provider as Provider, directory, env, (name, at) => foundProgram(machine, name, at))
      return { provider, line: [command, ...args].join(' '), version: await versionOf(machine, command) }
    } catch (error) {
      const isNamed = (env[`SVC_EXTERNAL_${provider.toUpperCase()}_COMMAND`] ?? '') !== ''
      return { provider, problem: isNamed ? messageOf(error) : undefined, npm: ADAPTERS[provider as Provider].npm }
    }
  })
  return agentFindings(await Promise.all(states))
}

/** Where it is, or why not: with a problem where the environment names one that cannot be used. */
export type AgentState =
  | { readonly provider: string; readonly line: string; readonly version: string | undefined }
  | { readonly provider: string; readonly problem: string | undefined; readonly npm: string | undefined }

/** An agent that is missing keeps nobody from an answer. Pure. */
export function agentFindings(states: readonly AgentState[]): Finding[] {
  const found = states.flatMap((each) =>
    'line' in each ? [`${each.provider} ${each.version === undefined ? '' : `${each.version} `}(${each.line})`] : [],
  )
  const missing = states.flatMap((each) =>
    'line' in each || each.problem !== undefined
      ? []
      : [`${each.provider}${each.npm === undefined ? '' : ` (npm install --global ${each.npm})`}`],
  )
  const told = [
    ...(found.length === 0 ? [] : [found.join(', ')]),
    ...(missing.length === 0 ? [] : [`not on the search path: ${missing.join(', ')}`]),
  ]
  return [
    ...(told.length === 0 ? [] : [{ level: 'ok' as const, check: CHECK, detail: told.join('; ') }]),
    ...states.flatMap((each): Finding[] =>
      'line' in each || each.problem === undefined ? [] : [{ level: 'warning', check: CHECK, detail: each.problem }],
    ),
  ]
}

/** As its package has it, where it comes in one. */
async function versionOf({ files }: Machine, command: string): Promise<string | undefined> {
  let folder = dirname(await files.realPath(command).catch(() => command))
  for (let level = 0; level < ABOVE; level++, folder = dirname(folder)) {
    try {
      const { version }: Readonly<Record<string, unknown>> = recordOf(await files.read(join(folder, 'package.json'), PACKAGE_BYTES))
      if (typeof version === 'string') return version
    } catch {
      // There is none here, or none that can be read.
    }
  }
  return undefined
}

function recordOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return isRecord(value) ? value : {}
}
