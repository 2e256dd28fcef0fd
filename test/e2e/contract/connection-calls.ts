/** Valid calls of the operations of connections, each on connections of its own scope. */
import type { ProviderConnectionSummary } from '../../../src/protocol/provider/connection.js'
import type { ValidCall, World } from './world.js'

const AT = '/v2/providers/test'
let scopes = 0

const scope = () => `?workspaceId=${encodeURIComponent(`/contract/${scopes++}`)}`

/** Stores a connection in a scope; answers its id. */
async function stored({ server }: World, where: string, label = 'Work'): Promise<string> {
  const { body } = await server.call('POST', `${AT}/connections${where}`, { label, credential: { type: 'api', key: 'sk-contract' } })
  return (body as ProviderConnectionSummary).connectionId
}

const onStored =
  (method: string, path: (id: string) => string, body?: object): ValidCall =>
  async (world) => {
    const where = scope()
    const id = await stored(world, where)
    return world.server.call(method, `${AT}${path(id)}${where}`, body)
  }

export const CONNECTION_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.providers.auth.get': onStored('GET', () => '/auth'),
  'v2.providers.auth.set': onStored('PUT', () => '/auth', { type: 'api', key: 'sk-other' }),
  'v2.providers.auth.delete': async (world) => {
    const where = scope()
    await stored(world, where)
    const answer = await world.server.call('DELETE', `${AT}/auth${where}`)
    const { body } = await world.server.call('GET', `${AT}/connections${where}`)
    if (JSON.stringify(body) !== '[]') throw new Error('the connection is still there')
    return answer
  },
  'v2.providers.authMethods': ({ server }) => server.call('GET', '/v2/providers/auth-methods'),
  'v2.providers.oauth.authorize': async ({ server }) => {
    const answer = await server.call('POST', `${AT}/oauth/authorize${scope()}`, { method: 'browser', label: 'Work' })
    if (!JSON.stringify(answer.body).includes('code_challenge_method=S256')) throw new Error('there is no challenge')
    return answer
  },
  'v2.providers.oauth.callback': ({ server }) =>
    server.call('POST', `/v2/providers/openai/oauth/callback${scope()}`, { method: 'token', code: 'of-the-contract' }),
  'v2.providers.openai.usage': async ({ server }) => {
    const where = scope()
    await server.call('PUT', `/v2/providers/openai/auth${where}`, { type: 'api', key: 'sk-contract' })
    return server.call('GET', `/v2/providers/openai/usage${where}`)
  },
  'v2.providers.connections.list': onStored('GET', () => '/connections'),
  'v2.providers.connections.create': ({ server }) =>
    server.call('POST', `${AT}/connections${scope()}`, { label: 'Work', credential: { type: 'wellknown', key: 'k', token: 't' } }),
  'v2.providers.connections.rename': onStored('PATCH', (id) => `/connections/${id}`, { label: 'Play' }),
  'v2.providers.connections.delete': onStored('DELETE', (id) => `/connections/${id}`),
  'v2.providers.connections.setDefault': async (world) => {
    const where = scope()
    await stored(world, where)
    const second = await stored(world, where, 'Second')
    const answer = await world.server.call('POST', `${AT}/connections/${second}/default${where}`)
    if (!(answer.body as ProviderConnectionSummary).isDefault) throw new Error('it is not the default one')
    return answer
  },
}
