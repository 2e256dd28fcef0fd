/** `svc mcp add` and `svc mcp remove`: servers of the configuration, written as any other key of it. */
import { SvcError } from '../../../protocol/errors.js'
import { serverFault } from '../../../protocol/mcp/mcp-config.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { wrongUse } from '../../line/wrong-use.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { knownServer } from './known-server.js'
import type { McpAddOptions, McpRemoveOptions } from './mcp-options.js'

/** A workspace cannot widen what it may: what it brings, it brings by hand. */
const INSTALLATION = { scope: 'installation' } as const

/** Writes one that is not there yet; answers 0. Throws `SvcError` for one that cannot be used so, and writes nothing then. */
export async function addMcp({ name, target, headers, environment, ...place }: McpAddOptions): Promise<number> {
  const { directory, server, json } = place
  const [first, ...args] = target
  const isAddress = /^https?:\/\//i.test(first)
  if (isAddress && args.length > 0) throw wrongUse(`svc mcp add does not know what to do with "${args[0]}" after an address`)
  if (isAddress && environment.length > 0) throw wrongUse('--env is for a program; an address takes --header')
  if (!isAddress && headers.length > 0) throw wrongUse('--header is for an address; a program takes --env')
  const entry = isAddress
    ? { type: 'remote' as const, url: first, ...named('headers', headers) }
    : { type: 'local' as const, command: [first, ...args], ...named('environment', environment) }
  const fault = serverFault(name, entry)
  if (fault !== undefined) throw wrongUse(`"${name}" cannot be added: ${fault}`)
  const connection = await connect(server)
  try {
    const { client } = connection
    const at = directoryOn(server, directory)
    if (Object.hasOwn(await client.plugins.mcp.catalog({ directory: at }), name))
      throw new SvcError('resource.conflict', `there is an MCP server "${name}" already; svc mcp remove ${name} takes it out`)
    await client.config.update({ directory: at, ...INSTALLATION, body: { mcp: { [name]: entry } } })
    writeOut(json ? `${jsonText({ name, config: entry }, 2)}\n` : `added ${name} for every workspace; svc mcp ${name} --connect tries it\n`)
    return 0
  } finally {
    await connection.close()
  }
}

/** Takes one out of the file that a person writes; answers 0. Throws `SvcError` where it stands elsewhere. */
export async function removeMcp({ name, directory, server, json }: McpRemoveOptions): Promise<number> {
  const connection = await connect(server)
  try {
    const { client } = connection
    const at = directoryOn(server, directory)
    const { configScope } = knownServer(name, await client.plugins.mcp.catalog({ directory: at }))
    if (configScope !== 'workspace') await client.config.update({ directory: at, ...INSTALLATION, body: { mcp: { [name]: null } } })
    if (Object.hasOwn(await client.plugins.mcp.catalog({ directory: at }), name))
      throw new SvcError(
        'resource.conflict',
        `"${name}" stands in a file that is not written here, such as one of the workspace, or mcp.json: take it out there (svc config path)`,
      )
    writeOut(json ? `${jsonText({ name, removed: true })}\n` : `removed ${name}\n`)
    return 0
  } finally {
    await connection.close()
  }
}

function named<K extends string>(key: K, pairs: readonly string[]): { readonly [P in K]?: Readonly<Record<string, string>> } {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf('=')
    if (at < 1) throw wrongUse(`"${pair}" is not NAME=value`)
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
  return entries.length === 0 ? {} : ({ [key]: Object.fromEntries(entries) } as { readonly [P in K]: Readonly<Record<string, string>> })
}
