/**
 * MCP servers that an editor brings: an act of the person in front of it, so they need no acceptance (decision 124). They join the directory of the
 * session until the service ends, and are added again where a service was started anew.
 *
 * I1 A server that svc has in its configuration, or that the workspace brings, is never replaced by one of the editor.
 * I2 What is not used is said, and why.
 */
import type { McpServer } from '@agentclientprotocol/sdk'
import { messageOf } from '../../../protocol/message-of.js'
import type { Client } from '../../../published/client/client-types.js'
import { patient } from './patient.js'

interface Brought {
  readonly name: string
  readonly config: Parameters<Client['plugins']['mcp']['add']>[0]['body']['config']
}

export interface EditorServers {
  /** Answers what is to be said of those that are not used; the others are connected meanwhile, and what is wrong with one then is a notice. */
  bring(directory: string, servers: readonly McpServer[], notice: (title: string) => void): Promise<readonly string[]>
  /** Those that the server has forgotten. */
  again(directory: string, notice: (title: string) => void): Promise<void>
}

export function createEditorServers({ plugins: { mcp } }: Client): EditorServers {
  const known = new Map<string, Map<string, Brought>>()

  async function add(directory: string, { name, config }: Brought): Promise<string | undefined> {
    return patient(() => mcp.add({ directory, body: { name, config } })).then(() => undefined, messageOf)
  }

  async function connect(directory: string, name: string): Promise<string | undefined> {
    try {
      if (await mcp.connect({ directory, name })) return undefined
      const status = (await mcp.status({ directory }))[name]
      return status === undefined || 'error' in status
        ? (status?.error ?? 'it is gone')
        : status.status === 'needs_auth'
          ? 'somebody has to sign in to it'
          : undefined
    } catch (error) {
      return messageOf(error)
    }
  }

  return {
    async bring(directory, servers, notice) {
      const refusals: string[] = []
      if (servers.length === 0) return refusals
      const theirs = known.get(directory) ?? new Map<string, Brought>()
      known.set(directory, theirs)
      const catalog = await patient(() => mcp.catalog({ directory })).catch(messageOf)
      const taken = new Set<string>()
      for (const server of servers) {
        const name = nameOf(server.name)
        const brought = { name, config: configOf(server) }
        const fault =
          faultOf(server) ??
          (taken.has(name) ? `another one of the editor is called "${name}".` : undefined) ??
          (typeof catalog === 'string'
            ? catalog
            : catalog[name]?.configScope == null
              ? undefined
              : 'svc has one of that name, which it uses.') ??
          (await add(directory, brought))
        if (fault !== undefined) {
          refusals.push(`The MCP server "${server.name}" of the editor is not used: ${fault}`)
          continue
        }
        taken.add(name)
        theirs.set(name, brought)
        void connect(directory, name).then(
          (why) => why !== undefined && notice(`The MCP server "${server.name}" of the editor cannot be used: ${why}`),
        )
      }
      return refusals
    },
    async again(directory, notice) {
      const theirs = known.get(directory)
      if (theirs === undefined || theirs.size === 0) return
      const there = await patient(() => mcp.status({ directory })).catch(() => undefined)
      if (there === undefined) return // The prompt that follows tells what is wrong with the server.
      for (const brought of theirs.values()) {
        if (there[brought.name] !== undefined) continue
        const why = await add(directory, brought)
        if (why !== undefined) notice(`The MCP server "${brought.name}" of the editor is not used any more: ${why}`)
      }
    },
  }
}

/** As svc may call it: it stands in paths and in ids of tools. */
function nameOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 64)
}

function configOf(server: McpServer): Brought['config'] {
  const valuesOf = (list: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]))
  return 'command' in server
    ? { type: 'local', command: [server.command, ...server.args], environment: valuesOf(server.env) }
    : { type: 'remote', url: server.url, headers: valuesOf(server.headers) }
}

/** A text of the editor is what it says: it does not stand for a variable of the server, as one of the configuration does. */
function faultOf(server: McpServer): string | undefined {
  const values = 'command' in server ? server.env : server.headers
  const named = values.find(({ value }) => value.includes('{env:'))
  return named === undefined ? undefined : `"${named.name}" has "{env:", which only the configuration of svc may say.`
}
