/**
 * Tokens for a server that is signed in to by a client of its own, not by a person ("client_credentials"; subsystems f.5 beside it).
 *
 * I1 The secret goes to the issuer that the configuration names, and to no other, whatever the server says.
 * I2 One token for each configuration, asked for once at a time and anew a minute before its end; kept in memory only.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { McpMachineClient } from '../../../protocol/mcp/mcp-config.js'
import type { Authorization, Library } from '../link/session.js'
import { storedTokens } from './provider.js'

interface MachinePlace {
  readonly server: string
  readonly url: string
  readonly client: McpMachineClient
  /** Guarded, and bounded in time. */
  readonly fetch: FetchLike
}

interface Held {
  readonly token: string
  /** Unix ms; undefined = it does not end. */
  readonly until: number | undefined
}

export interface Machines {
  authorization(place: MachinePlace): Authorization
}

export function createMachines({ clock }: Pick<NativeHost['effects'], 'clock'>, load: () => Promise<Library>): Machines {
  const held = createLru<string, Promise<Held>>(LIMITS.mcp.servers)

  async function obtain({ server, url, client, fetch }: MachinePlace, scope: string | undefined): Promise<Held> {
    const { auth, ClientCredentialsProvider, PrivateKeyJwtProvider } = await load()
    const { clientId, clientSecret = '', privateKey, algorithm = 'ES256', issuer } = client
    const common = { clientId, clientName: 'svc', expectedIssuer: issuer, ...(client.scope !== undefined && { scope: client.scope }) }
    const provider =
      privateKey === undefined
        ? new ClientCredentialsProvider({ ...common, clientSecret })
        : new PrivateKeyJwtProvider({ ...common, privateKey, algorithm })
    try {
      await auth(provider, { serverUrl: url, fetchFn: fetch, ...(scope !== undefined && { scope }) })
      const tokens = provider.tokens()
      if (tokens === undefined) throw new Error('its authorization server gave no token')
      const { accessToken: token } = storedTokens(tokens, clock.now())
      const { expires_in: seconds } = tokens
      return { token, until: seconds === undefined ? undefined : clock.now() + seconds * 1000 - LIMITS.mcp.tokenSkew }
    } catch (error) {
      const message = `No token for the server "${server}": ${toFailure(error).message}`
      throw new SvcError('request.unprocessable', message, { server }, { cause: error })
    }
  }

  /** I2 */
  function ask(key: string, place: MachinePlace, scope: string | undefined): Promise<Held> {
    const work = obtain(place, scope)
    held.set(key, work)
    work.catch(() => held.get(key) === work && held.delete(key))
    return work
  }

  return {
    authorization(place) {
      const key = JSON.stringify([place.server, place.url, place.client])
      let scope: string | undefined
      return {
        async token() {
          const mine = held.get(key) ?? ask(key, place, scope)
          const { token, until } = await mine
          if (until === undefined || until > clock.now()) return token
          const current = held.get(key)
          return (await (current === undefined || current === mine ? ask(key, place, scope) : current)).token
        },
        async onUnauthorized({ response }) {
          const { extractWWWAuthenticateParams } = await load()
          scope = extractWWWAuthenticateParams(response).scope
          await ask(key, place, scope)
        },
        needs(wanted) {
          scope = wanted
          held.delete(key)
        },
      }
    },
  }
}
