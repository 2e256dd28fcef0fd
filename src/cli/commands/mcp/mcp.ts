/** `svc mcp`: servers of the Model Context Protocol, and what one of them offers. */
import { resolve } from 'node:path'
import type { Client } from '../../../published/client/client-types.js'
import type { McpCatalogEntry, McpStatus } from '../../../protocol/mcp/mcp.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import type { McpListOptions, McpOptions } from './mcp-options.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import { knownServer } from './known-server.js'

/** Runs one action; answers the exit code. */
export async function mcp(options: McpOptions): Promise<number> {
  switch (options.action) {
    case 'list':
      return showMcp(options)
    case 'add':
      return (await import('./mcp-add.js')).addMcp(options)
    case 'remove':
      return (await import('./mcp-add.js')).removeMcp(options)
    case 'login':
    case 'logout':
      return (await import('./mcp-login.js')).signMcp(options)
    case 'accept':
    case 'revoke':
      return (await import('./mcp-accept.js')).actOnMcp(options)
  }
}

/** Prints servers, or what one of them offers; answers 0, or 1 when one that was to be connected is not. Throws `SvcError` for a server there is not. */
async function showMcp({ name, connect: isToConnect, directory, server, json }: McpListOptions): Promise<number> {
  const connection = await connect(server)
  try {
    const { client } = connection
    const query = { directory: resolve(directory ?? '.') }
    const before = await client.plugins.mcp.catalog(query)
    if (name !== undefined) knownServer(name, before)
    const names = name === undefined ? Object.keys(before).toSorted() : [name]
    const wanted = names.filter((each) => before[each]?.enabled === true && before[each].acceptance?.message == null)
    if (isToConnect) await Promise.all(wanted.map((each) => client.plugins.mcp.connect({ ...query, name: each })))
    const catalog = isToConnect ? await client.plugins.mcp.catalog(query) : before
    const shown = Object.fromEntries(names.flatMap((each) => (catalog[each] === undefined ? [] : [[each, catalog[each]] as const])))
    if (json) writeOut(`${jsonText(shown, 2)}\n`)
    else if (names.length === 0) writeOut('no MCP servers; svc mcp add configures one (docs/mcp.md)\n')
    else writeOut(columns([['SERVER', 'STATUS', 'WHY'], ...Object.entries(shown).map(rowOf)]))
    if (name !== undefined && catalog[name]?.runtimeConnected === true && !json) await writeOffers(client, { ...query, name })
    return isToConnect && wanted.some((each) => catalog[each]?.runtimeConnected !== true) ? 1 : 0
  } finally {
    await connection.close()
  }
}

async function writeOffers(client: Client, query: { readonly directory: string; readonly name: string }): Promise<void> {
  const [tools, prompts, resources] = await Promise.all([
    client.plugins.mcp.tools(query),
    client.plugins.mcp.prompts(query),
    client.plugins.mcp.resources(query),
  ])
  const rows = [
    ...tools.map((tool) => ['tool', tool.name, firstLine(tool.description)]),
    ...prompts.map((prompt) => ['prompt', prompt.name, firstLine(prompt.description)]),
    ...resources.map((resource) => ['resource', resource.uri, resource.name]),
  ]
  if (rows.length > 0) writeOut(`\n${columns([['KIND', 'NAME', 'IS'], ...rows.map((row) => row.map(printable))])}`)
}

function rowOf([name, { status, acceptance }]: readonly [string, McpCatalogEntry]): string[] {
  if (acceptance?.message != null) return [name, 'waits', acceptance.message].map(printable)
  const hint = status.status === 'needs_auth' ? `"svc mcp login ${name}" signs in, "svc mcp ${name} --connect" tries it without` : ''
  return [name, WORDS[status.status], 'error' in status ? status.error : hint].map(printable)
}

const WORDS: Readonly<Record<McpStatus['status'], string>> = {
  connected: 'connected',
  disabled: 'switched off',
  needs_auth: 'nobody has signed in',
  failed: 'not connected',
  needs_client_registration: 'needs a client',
}

function firstLine(text = ''): string {
  return (text.split('\n')[0] ?? '').slice(0, 100)
}
