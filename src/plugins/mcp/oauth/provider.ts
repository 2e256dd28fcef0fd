/** What the library asks of us while somebody signs in to a server: it does the protocol, this keeps what it is to keep. */
import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { isSendable } from '../../../protocol/text/bearer.js'
import type { McpOAuthConfig } from '../../../protocol/mcp/mcp-config.js'
import type { ServerCredentials, Tokens } from './credentials.js'

/** One sign-in in memory: what stands in `entry` is written by whoever began it. */
export interface Attempt {
  entry: ServerCredentials
  /** Where the person goes, once it is known. */
  address: URL | undefined
}

export interface ProviderOptions {
  readonly attempt: Attempt
  readonly redirectUri: string
  readonly config: McpOAuthConfig
  /** Unix ms. */
  now(): number
}

export function signInProvider({ attempt, redirectUri, config, now }: ProviderOptions): OAuthClientProvider {
  const put = (more: Partial<ServerCredentials>) => {
    attempt.entry = { ...attempt.entry, ...more }
  }
  return {
    redirectUrl: redirectUri,
    ...(config.clientMetadataUrl !== undefined && { clientMetadataUrl: config.clientMetadataUrl }),
    clientMetadata: {
      client_name: 'svc',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: config.clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...(config.scope !== undefined && { scope: config.scope }),
    },
    state: () => attempt.entry.oauthState ?? '',
    clientInformation(context) {
      const client = clientOf(attempt.entry, redirectUri, config)
      const issuer = config.issuer ?? context?.issuer
      // One that is configured belongs to whichever issuer is found, unless the configuration names that, too.
      return config.clientId === undefined || issuer === undefined ? client : client && { ...client, issuer }
    },
    saveClientInformation({ client_id: clientId, client_secret: clientSecret, issuer }) {
      if (config.clientId !== undefined) return
      put({
        oauthRedirectUri: redirectUri,
        clientInfo: { clientId, ...(clientSecret !== undefined && { clientSecret }), ...(issuer !== undefined && { issuer }) },
      })
    },
    tokens: () => undefined, // Renewing is `refresh` of the sign-ins; here a person signs in.
    saveTokens: (tokens) => put({ tokens: storedTokens(tokens, now()) }),
    redirectToAuthorization: (url) => void (attempt.address = url),
    saveCodeVerifier: (codeVerifier) => put({ codeVerifier }),
    codeVerifier: () => attempt.entry.codeVerifier ?? '',
    saveDiscoveryState: (state) => put({ discovery: { ...state } }),
    discoveryState: () => discoveryOf(attempt.entry, config),
  }
}

/** The configured client, or the one that was registered for this redirect. */
export function clientOf(entry: ServerCredentials, redirectUri: string | undefined, config: McpOAuthConfig) {
  if (config.clientId !== undefined)
    return { client_id: config.clientId, ...(config.clientSecret !== undefined && { client_secret: config.clientSecret }) }
  const { clientInfo } = entry
  if (clientInfo === undefined || (redirectUri !== undefined && entry.oauthRedirectUri !== redirectUri)) return undefined
  const { clientId, clientSecret, issuer } = clientInfo
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(issuer !== undefined && { issuer }),
  }
}

/** As it was found, or as the configuration says it. */
export function discoveryOf({ discovery, serverUrl }: ServerCredentials, config: McpOAuthConfig): OAuthDiscoveryState | undefined {
  const { authorizationUrl, tokenUrl, registrationUrl } = config
  if (authorizationUrl !== undefined && tokenUrl !== undefined) {
    const issuer = config.issuer ?? new URL(authorizationUrl).origin
    return {
      authorizationServerUrl: issuer,
      authorizationServerMetadata: {
        issuer,
        authorization_endpoint: authorizationUrl,
        token_endpoint: tokenUrl,
        ...(registrationUrl !== undefined && { registration_endpoint: registrationUrl }),
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      },
      resourceMetadata: { resource: serverUrl },
    }
  }
  return isDiscovery(discovery) ? discovery : undefined
}

function isDiscovery(value: unknown): value is OAuthDiscoveryState {
  return (
    typeof value === 'object' && value !== null && 'authorizationServerUrl' in value && typeof value.authorizationServerUrl === 'string'
  )
}

/** `now`: Unix ms. What an answer without a new refresh token keeps is the old one. */
export function storedTokens(tokens: StoredOAuthTokens, now: number, before?: Tokens): Tokens {
  const {
    access_token: accessToken,
    token_type: tokenType,
    refresh_token: refreshToken = before?.refreshToken,
    expires_in: seconds,
    scope,
    issuer,
  } = tokens
  if (!isSendable(accessToken) || (refreshToken !== undefined && !isSendable(refreshToken)))
    throw new Error('its authorization server gave a token that cannot be sent to anybody')
  return {
    accessToken,
    tokenType,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresAt: Math.floor(now / 1000) + seconds }),
    ...((scope ?? before?.scope) !== undefined && { scope: scope ?? before?.scope }),
    ...((issuer ?? before?.issuer) !== undefined && { issuer: issuer ?? before?.issuer }),
  }
}
