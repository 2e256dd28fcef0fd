/** `svc auth list`: what calls of providers are made with. */
import type { Client } from '../../../published/client/client-types.js'
import type { ProviderConnectionSummary } from '../../../protocol/provider/connection.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { AuthPlace } from './auth-arguments.js'

/** Providers asked at once. */
const AT_ONCE = 8

/** Prints one line for each connection; answers 0. */
export async function listAuth({ server, json }: AuthPlace): Promise<number> {
  const connection = await connect(server)
  try {
    const { client } = connection
    const [methods, { all }] = await Promise.all([client.providers.authMethods(), client.providers.list()])
    const connections = await connectionsOf(client, Object.keys(methods))
    const stored = new Set(connections.map(({ providerId }) => providerId))
    const environment = all.filter(({ id, source }) => source === 'env' && !stored.has(id)).map(({ id, env }) => ({ providerId: id, env }))
    if (json) writeOut(`${jsonText({ connections, environment }, 2)}\n`)
    else if (connections.length + environment.length === 0)
      writeOut('nothing is stored; "svc auth set <provider>" stores a key, "svc auth login <provider>" signs in\n')
    else {
      const rows = [
        ...connections.map(rowOf),
        ...environment.map(({ providerId, env }) => [providerId, `a key in ${env.join(' or ')}`, 'environment', '', '']),
      ]
      writeOut(columns([['PROVIDER', 'NAME', 'KIND', 'FOR', 'ID'], ...rows.map((row) => row.map(printable))]))
    }
    return 0
  } finally {
    await connection.close()
  }
}

async function connectionsOf(client: Client, providers: readonly string[]): Promise<ProviderConnectionSummary[]> {
  const found: ProviderConnectionSummary[][] = []
  const waiting = [...providers.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, providerId] = next
      found[index] = await client.providers.connections.list({ providerId })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found.flat()
}

const KINDS = { api: 'key', oauth: 'sign-in', wellknown: 'token' } as const

function rowOf({ providerId, label, authType, isDefault, scope, connectionId }: ProviderConnectionSummary): string[] {
  return [providerId, `${label}${isDefault ? ' (default)' : ''}`, KINDS[authType], scope.workspaceId ?? 'everywhere', connectionId]
}
