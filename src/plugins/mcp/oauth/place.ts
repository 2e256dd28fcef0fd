/** A server that people sign in to, and what signing in to it goes by (subsystems f.5). */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import type { McpOAuthConfig, McpRemote } from '../../../protocol/mcp/mcp-config.js'
import { createGuardedHttp } from '../link/guarded-http.js'
import type { Library } from '../link/session.js'
import { boundedAsking } from './asking.js'
import type { Credentials } from './credentials.js'

export interface SignInPlace {
  readonly server: string
  readonly config: McpRemote
}

export interface SignInDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'random' | 'fetch' | 'network' | 'log'>
  readonly credentials: Credentials
  /** Where this server is reached by a browser. */
  baseUrl(): string
}

/** What a server said when it refused somebody. */
interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

/** What was found out about servers while somebody used them. */
export interface SignInNotes {
  readonly challenges: Map<string, Challenge>
  /** Names of those whose authorization server registers nobody. */
  readonly unregistered: Set<string>
}

/** The library of the protocol; loaded when it is used first. */
export function loadLibrary(): Promise<Library> {
  return import('@modelcontextprotocol/client')
}

export function oauthOf({ config: { oauth } }: SignInPlace): McpOAuthConfig {
  return oauth === undefined || oauth === false ? {} : oauth
}

export function keyOf({ server, config: { url } }: SignInPlace): string {
  return `${server}\0${url}`
}

export function redirectOf({ baseUrl }: Pick<SignInDeps, 'baseUrl'>, place: SignInPlace): string {
  return oauthOf(place).redirectUri ?? `${baseUrl()}/v2/plugins/dev.svc.mcp/${encodeURIComponent(place.server)}/auth/callback`
}

/** Guarded, and bounded in time and size. */
export function fetchFor({ effects }: Pick<SignInDeps, 'effects'>, { config }: SignInPlace): FetchLike {
  return boundedAsking(effects, createGuardedHttp(effects, config))
}
