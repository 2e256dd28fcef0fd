/** Servers as the configuration of a directory has them. Pure. */
import type { ProjectProgram } from '../../../ports/programs.js'
import type { ProgramStanding } from '../../../protocol/acceptance/acceptance.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { McpConfig, serverFault } from '../../../protocol/mcp/mcp-config.js'

/** A server that can be used, one of a workspace that waits for an act, one that is switched off, or one that says something it must not. */
export type ServerEntry =
  | ({ readonly kind: 'usable'; readonly config: McpConfig; readonly text: string } & Partial<Brought>)
  | ({ readonly kind: 'unaccepted'; readonly config: McpConfig } & Brought)
  | { readonly kind: 'disabled' }
  | { readonly kind: 'wrong'; readonly error: string }

/** Of a server that a workspace brings. */
interface Brought {
  readonly program: ProjectProgram
  readonly acceptance: ProgramStanding
}

const known = new WeakMap<object, ReadonlyMap<string, ServerEntry>>()

/** By name; the same map for the same configuration. At most `LIMITS.mcp.servers`: what is beyond is wrong. */
export function readServers(configuration: unknown): ReadonlyMap<string, ServerEntry> {
  if (!isRecord(configuration)) return new Map()
  const before = known.get(configuration)
  if (before !== undefined) return before
  const entries = new Map(
    Object.entries(configuration).map(([name, value], index): [string, ServerEntry] => [
      name,
      index < LIMITS.mcp.servers
        ? readServer(name, value)
        : { kind: 'wrong', error: `more than ${LIMITS.mcp.servers} servers are configured` },
    ]),
  )
  known.set(configuration, entries)
  return entries
}

export function readServer(name: string, value: unknown): ServerEntry {
  const fault = serverFault(name, value)
  if (fault !== undefined) return { kind: 'wrong', error: `it is not configured as it must be: ${fault}` }
  const read = McpConfig.safeParse(value)
  return read.success && read.data.enabled ? { kind: 'usable', config: read.data, text: JSON.stringify(value) } : { kind: 'disabled' }
}
