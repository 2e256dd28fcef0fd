/** Valid calls of the operations of MCP servers, on a real one. */
import { createRequire } from 'node:module'
import { type AuthorizationServer, signInAt, startAuthorizationServer, startResource } from '../../fixtures/oauth-server.js'
import type { ValidCall, World } from './world.js'

const MCP = '/v2/plugins/dev.svc.mcp'

/** The server `everything`, as it is configured. */
export const EVERYTHING = {
  type: 'local',
  command: [process.execPath, createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
}

/** A server that the workspace brings. */
export const THEIRS = { '.svc/mcp.json': JSON.stringify({ theirs: { type: 'local', command: ['true'] } }) }

const call =
  (method: string, path: string, body?: object): ValidCall =>
  ({ server }) =>
    server.call(method, `${MCP}${path}`, body)

let authorization: Promise<AuthorizationServer> | undefined
let servers = 0

/** A server that somebody has to sign in to, added by a name of its own. Nobody answers behind it. */
async function signInServer({ server }: World): Promise<string> {
  authorization ??= startAuthorizationServer()
  const { url } = await startResource('http://127.0.0.1:9', await authorization, (await authorization).issuer)
  const name = `sign-in-${servers++}`
  await server.call('POST', MCP, { name, config: { type: 'remote', url } })
  return `${MCP}/${name}/auth`
}

/** Where the browser of somebody who signs in comes back to. */
async function returned(world: World): Promise<{ readonly at: string; readonly back: string }> {
  const at = await signInServer(world)
  const { authorizationUrl } = (await world.server.call('POST', at)).body as { authorizationUrl: string }
  return { at, back: await signInAt(authorizationUrl) }
}

export const MCP_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.plugins.mcp.status': call('GET', ''),
  'v2.plugins.mcp.add': call('POST', '', { name: 'added', config: EVERYTHING }),
  'v2.plugins.mcp.catalog': call('GET', '/catalog'),
  'v2.plugins.mcp.config': call('PATCH', '/everything/config', { enabled: true }),
  'v2.plugins.mcp.accept': call('POST', '/theirs/acceptance', {}),
  'v2.plugins.mcp.takeBack': async ({ server }) => {
    await server.call('POST', `${MCP}/theirs/acceptance`)
    return server.call('DELETE', `${MCP}/theirs/acceptance`)
  },
  'v2.plugins.mcp.connect': call('POST', '/everything/connect'),
  'v2.plugins.mcp.disconnect': call('POST', '/everything/disconnect'),
  'v2.plugins.mcp.prompts': call('GET', '/everything/prompts'),
  'v2.plugins.mcp.resources': call('GET', '/everything/resources'),
  'v2.plugins.mcp.tools': call('GET', '/everything/tools'),
  'v2.plugins.mcp.tools.call': call('POST', '/everything/tools/echo', { message: 'hello' }),
  'v2.plugins.mcp.auth.start': async (world) => world.server.call('POST', await signInServer(world)),
  'v2.plugins.mcp.auth.authenticate': async (world) => world.server.call('POST', `${await signInServer(world)}/authenticate`),
  'v2.plugins.mcp.auth.callback.get': async (world) => {
    const { pathname, search } = new URL((await returned(world)).back)
    return world.server.call('GET', `${pathname}${search}`)
  },
  'v2.plugins.mcp.auth.callback.post': async (world) => {
    const { at, back } = await returned(world)
    return world.server.call('POST', `${at}/callback`, { code: back })
  },
  'v2.plugins.mcp.auth.remove': async (world) => world.server.call('DELETE', await signInServer(world)),
}
