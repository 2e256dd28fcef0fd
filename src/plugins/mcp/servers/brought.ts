/** Servers that a workspace brings: inert until somebody accepts their exact content (choice 34; threat-model W2). */
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import { isRecord } from '../../../protocol/text/json.js'
import { commandLine, type McpConfig } from '../../../protocol/mcp/mcp-config.js'
import { isSecretName, publicRecord } from '../../../protocol/text/secrets.js'
import { readServer, type ServerEntry } from './configured.js'

/** What it would start, or where it would connect, and all else that it says but whether it is switched on. `origin`: what a workspace says, or `'installation'`. */
export function programOfServer(directory: string, server: string, config: McpConfig, origin: unknown): ProjectProgram {
  const isNamed = origin === 'installation'
  const { enabled: _enabled, disabled: _disabled, ...content }: Content = isRecord(origin) ? origin : {}
  return {
    kind: 'mcp-server',
    name: server,
    directory,
    commands: [config.type === 'local' ? commandLine(config) : [config.url]],
    more: sorted(content),
    also: toldOf(content),
    isNamed,
    isRemote: config.type === 'remote',
    advice: `accept it with "svc mcp accept ${server}"`,
  }
}

/** As it stands; variables of the server's environment are none of a workspace's business (threat-model W4). */
export async function readBrought(
  { standing }: Pick<NativeHost['programs'], 'standing'>,
  place: { readonly directory: string; readonly server: string },
  value: unknown,
): Promise<ServerEntry> {
  const read = readServer(place.server, value)
  if (read.kind !== 'usable') return read
  if (/\{env:/.test(JSON.stringify(value)))
    return { kind: 'wrong', error: 'a workspace may not name variables of the environment ("{env:…}")' }
  const program = programOfServer(place.directory, place.server, read.config, value)
  const acceptance = await standing(program)
  const brought = { config: read.config, program, acceptance }
  return acceptance.message === null ? { kind: 'usable', ...brought, text: `${read.text} brought` } : { kind: 'unaccepted', ...brought }
}

/** What the line or the address does not say. */
function toldOf({ type: _type, command: _command, args: _args, url: _url, env, environment, headers, ...others }: Content): string[] {
  const valuesOf = (map: unknown, label: string) =>
    Object.entries(isRecord(map) ? map : {}).map(([name, value]) => `${label} ${name}=${isSecretName(name) ? '…' : String(value)}`)
  return [
    ...valuesOf({ ...(isRecord(env) && env), ...(isRecord(environment) && environment) }, 'variable'),
    ...valuesOf(headers, 'header'),
    ...Object.entries(publicRecord(others)).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ]
}

type Content = Readonly<Record<string, unknown>>

/** The same text for the same content, in whatever order a file says it. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  )
}
