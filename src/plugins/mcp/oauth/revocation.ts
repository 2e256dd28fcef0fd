/** Tokens that nobody uses any more are ended at the authorization server, where it says how (RFC 7009). */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import { toFailure } from '../../../protocol/errors.js'
import type { McpOAuthConfig } from '../../../protocol/mcp/mcp-config.js'
import type { ServerCredentials } from './credentials.js'
import { clientOf, discoveryOf } from './provider.js'

export interface Revocation {
  readonly server: string
  readonly entry: ServerCredentials
  readonly config: McpOAuthConfig
  /** Guarded, and bounded in time. */
  readonly fetch: FetchLike
}

/** Never rejects: what cannot be ended there is forgotten here all the same. */
export async function revokeTokens(
  { log }: Pick<NativeHost['effects'], 'log'>,
  { server, entry, config, fetch }: Revocation,
): Promise<void> {
  const metadata = discoveryOf(entry, config)?.authorizationServerMetadata
  const client = clientOf(entry, undefined, config)
  const endpoint = metadata !== undefined && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined
  const { tokens } = entry
  if (typeof endpoint !== 'string' || client === undefined || tokens === undefined) return
  if (tokens.issuer !== undefined && tokens.issuer !== metadata?.issuer) return
  const { client_id: id, client_secret: secret } = client
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(secret !== undefined && { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` }),
  }
  const revoke = async (token: string, hint: string) => {
    const body = new URLSearchParams({ token, token_type_hint: hint, ...(secret === undefined && { client_id: id }) }).toString()
    const { ok, status, body: answer } = await fetch(endpoint, { method: 'POST', headers, body })
    await answer?.cancel()
    if (!ok) log.info('an authorization server did not end a token', { server, status })
  }
  try {
    if (tokens.refreshToken !== undefined) await revoke(tokens.refreshToken, 'refresh_token')
    await revoke(tokens.accessToken, 'access_token')
  } catch (error) {
    log.info('an authorization server did not end a token', { server, cause: toFailure(error).message })
  }
}
