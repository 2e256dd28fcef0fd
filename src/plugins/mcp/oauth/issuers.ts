/** Which authorization server may speak for a server, and where it may send somebody (threat-model N3). */
import type { McpOAuthConfig } from '../../../protocol/mcp/mcp-config.js'
import type { ServerCredentials } from './credentials.js'
import { discoveryOf } from './provider.js'

/**
 * Servers of 2025-03 have no metadata of their own as a resource: they are their authorization server, at a path of their own. What names an
 * issuer of the same origin as the server names nobody else.
 */
export function isBesideServer(
  url: string,
  { kind, expected, received }: { kind: string; expected?: unknown; received?: unknown },
): boolean {
  const { origin } = new URL(url)
  return kind === 'metadata' && [expected, received].every((issuer) => originOf(issuer) === origin)
}

/** Nothing that is used for it leads elsewhere, and no metadata of the resource named another. */
export function isAllBesideServer(url: string, entry: ServerCredentials): boolean {
  const { authorizationServerMetadata: metadata, resourceMetadata } = discoveryOf(entry, {}) ?? {}
  if (metadata === undefined || resourceMetadata !== undefined) return false
  const { issuer, authorization_endpoint: authorization, token_endpoint: token, registration_endpoint: registration = issuer } = metadata
  return [issuer, authorization, token, registration].every((address) => originOf(address) === new URL(url).origin)
}

/** Every address of the authorization server is one of the web, before anybody is sent there or a code is. */
export function refuseOddEndpoints(entry: ServerCredentials, config: McpOAuthConfig): void {
  const { authorizationServerMetadata = {} } = discoveryOf(entry, config) ?? {}
  for (const [name, address] of Object.entries(authorizationServerMetadata)) {
    if (!name.endsWith('_endpoint') || typeof address !== 'string' || /^https?:$/.test(protocolOf(address))) continue
    throw new Error(`its authorization server names no address of http or https as its ${name}`)
  }
}

/** Throws where the configuration names another authorization server than was found. */
export function mustBeIssuer({ issuer }: McpOAuthConfig, entry: ServerCredentials): void {
  const found = discoveryOf(entry, {})
  const named = found?.authorizationServerMetadata?.issuer ?? found?.authorizationServerUrl
  const plain = (text = '') => text.replace(/\/$/, '')
  if (issuer !== undefined && plain(named) !== plain(issuer)) throw new Error(`its authorization server is not ${issuer}`)
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : ''
}

function originOf(address: unknown): string | undefined {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).origin : undefined
}
