/**
 * Signing in to servers (subsystems f.5; threat-model N3).
 *
 * I1 An attempt is known by a state of 32 random bytes, bound to server, address and redirect, good once and for a while; the code it
 *    brings is exchanged with the issuer that the attempt was begun with. PKCE is S256 always: the library refuses less.
 * I2 A token is sent to the address it was given for, and is renewed once at a time, however many ask.
 * I3 What an authorization server refuses to renew is forgotten; what merely failed is kept.
 * I4 Requests about it are guarded, bounded in time and size, and nothing secret is in any message.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isSendable } from '../../../protocol/text/bearer.js'
import { machineOf, type McpOAuthConfig, type McpRemote } from '../../../protocol/mcp/mcp-config.js'
import { createGuardedHttp } from '../link/guarded-http.js'
import type { Authorization, Library } from '../link/session.js'
import { boundedAsking } from './asking.js'
import type { Credentials, ServerCredentials, Tokens } from './credentials.js'
import { createMachines } from './machines.js'
import { revokeTokens } from './revocation.js'
import { type Attempt, clientOf, discoveryOf, signInProvider, storedTokens } from './provider.js'

/** A server that people sign in to. */
export interface SignInPlace {
  readonly server: string
  readonly config: McpRemote
}

interface Returned {
  readonly code: string
  readonly iss: string | undefined
}

export interface SignIns {
  hasCredentials(server: string, url: string): Promise<boolean>
  /** What the connection of a server is given. */
  authorization(place: SignInPlace): Authorization
  /** It was found that a server registers nobody, and no client is configured. */
  isUnregistered(server: string): boolean
  /** Begins an attempt, in the place of one that was under way. Throws `request.unprocessable`. */
  start(place: SignInPlace, directory: string): Promise<{ readonly authorizationUrl: string; readonly oauthState: string }>
  /** Where an attempt with this state was begun, be it before a restart. */
  directoryOf(server: string, state: string): Promise<string | undefined>
  /** Takes the attempt that is under way, of this state when one is given; it is over then. Undefined = there is none. */
  take(place: SignInPlace, state: string | undefined): Promise<ServerCredentials | undefined>
  /** Exchanges the code. Throws `request.unprocessable`. */
  finish(place: SignInPlace, taken: ServerCredentials, returned: Returned): Promise<void>
  /** Forgets everything about a server, and ends its tokens where they are from. */
  remove(place: SignInPlace): Promise<void>
}

export interface SignInDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'random' | 'fetch' | 'network' | 'log'>
  readonly credentials: Credentials
  /** Where this server is reached by a browser. */
  baseUrl(): string
}

const STATE_BYTES = 32
/** Says nothing about whether somebody is signed in. */
const TROUBLE: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

export function createSignIns({ effects, credentials, baseUrl }: SignInDeps): SignIns {
  const { clock, random, log } = effects
  const unregistered = new Set<string>()
  const renewing = new Map<string, Promise<Tokens | undefined>>()
  /** What servers said when they refused somebody. */
  const challenges = new Map<string, { readonly resourceMetadataUrl?: URL; readonly scope?: string }>()
  const load = (): Promise<Library> => import('@modelcontextprotocol/client')
  const machines = createMachines(effects, load)

  const oauthOf = ({ config: { oauth } }: SignInPlace): McpOAuthConfig => (oauth === undefined || oauth === false ? {} : oauth)
  const keyOf = ({ server, config: { url } }: SignInPlace) => `${server}\0${url}`
  const redirectOf = (place: SignInPlace) =>
    oauthOf(place).redirectUri ?? `${baseUrl()}/v2/plugins/dev.svc.mcp/${encodeURIComponent(place.server)}/auth/callback`

  /** I4 */
  const fetchFor = ({ config }: SignInPlace): FetchLike => boundedAsking(effects, createGuardedHttp(effects, config))

  async function tokensOf({ server, config }: SignInPlace): Promise<Tokens | undefined> {
    const tokens = (await credentials.get(server, config.url))?.tokens
    return tokens !== undefined && isSendable(tokens.accessToken) ? tokens : undefined
  }

  const isDue = ({ expiresAt }: Tokens) => expiresAt !== undefined && expiresAt * 1000 - LIMITS.mcp.tokenSkew <= clock.now()

  /** I2: renews the tokens; undefined = somebody has to sign in again. */
  function renew(place: SignInPlace): Promise<Tokens | undefined> {
    const key = keyOf(place)
    const underWay = renewing.get(key)
    if (underWay !== undefined) return underWay
    const work = renewNow(place).finally(() => renewing.delete(key))
    renewing.set(key, work)
    return work
  }

  async function renewNow(place: SignInPlace): Promise<Tokens | undefined> {
    const { server, config } = place
    const entry = await credentials.get(server, config.url)
    const oauth = oauthOf(place)
    const discovery = entry && discoveryOf(entry, oauth)
    const client = entry && clientOf(entry, undefined, oauth)
    if (entry?.tokens?.refreshToken === undefined || discovery === undefined || client === undefined) return undefined
    const { refreshAuthorization, selectResourceURL, OAuthError } = await load()
    const before = entry.tokens
    const issuer = discovery.authorizationServerMetadata?.issuer ?? discovery.authorizationServerUrl
    if (before.issuer !== undefined && before.issuer !== issuer) return undefined
    try {
      const attempt: Attempt = { entry, address: undefined }
      const provider = signInProvider({ attempt, redirectUri: redirectOf(place), config: oauth, now: () => clock.now() })
      const resource = await selectResourceURL(config.url, provider, discovery.resourceMetadata)
      const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
        clientInformation: client,
        refreshToken: before.refreshToken ?? '',
        fetchFn: fetchFor(place),
        ...(discovery.authorizationServerMetadata && { metadata: discovery.authorizationServerMetadata }),
        ...(resource && { resource }),
      })
      const tokens = storedTokens({ ...renewed, issuer }, clock.now(), before)
      await credentials.change(server, config.url, (now) => ({ ...now, tokens }))
      return tokens
    } catch (error) {
      if (!(error instanceof OAuthError) || TROUBLE.has(error.code)) throw error // I3
      log.info('a sign-in to a server was not renewed', { server, code: error.code })
      await forgetTokens(place)
      return undefined
    }
  }

  async function forgetTokens({ server, config }: SignInPlace): Promise<void> {
    await credentials.change(server, config.url, ({ tokens: _tokens, ...entry }) => entry)
  }

  return {
    hasCredentials: async (server, url) => (await credentials.get(server, url))?.tokens !== undefined,
    isUnregistered: (server) => unregistered.has(server),
    authorization(place) {
      const client = machineOf(place.config)
      if (client !== undefined)
        return machines.authorization({ server: place.server, url: place.config.url, client, fetch: fetchFor(place) })
      return {
        async token() {
          const tokens = await tokensOf(place)
          if (tokens === undefined || !isDue(tokens)) return tokens?.accessToken
          return (await renew(place))?.accessToken
        },
        async onUnauthorized({ response }) {
          const { extractWWWAuthenticateParams, UnauthorizedError } = await load()
          challenges.set(keyOf(place), extractWWWAuthenticateParams(response))
          const tokens = await tokensOf(place)
          if (tokens?.refreshToken !== undefined && (await renew(place)) !== undefined) return
          if (tokens !== undefined) await forgetTokens(place)
          throw new UnauthorizedError()
        },
        needs: (scope) => void challenges.set(keyOf(place), { ...challenges.get(keyOf(place)), scope }),
      }
    },
    async start(place, directory) {
      const { server, config } = place
      const { auth, computeScopeUnion, IssuerMismatchError } = await load()
      const oauth = oauthOf(place)
      const redirectUri = redirectOf(place)
      const oauthState = base64Url(random.bytes(STATE_BYTES))
      const { codeVerifier: _, discovery: _found, ...before } = (await credentials.get(server, config.url)) ?? { serverUrl: config.url }
      const entry = { ...before, oauthState, oauthDirectory: directory, oauthRedirectUri: redirectUri, oauthStarted: clock.now() }
      const attempt: Attempt = { entry: withClientFor(entry, before, redirectUri), address: undefined }
      const provider = signInProvider({ attempt, redirectUri, config: oauth, now: () => clock.now() })
      try {
        const challenge = challenges.get(keyOf(place))
        const scope = challenge?.scope === undefined ? undefined : computeScopeUnion(before.tokens?.scope, challenge.scope)
        const asked = {
          serverUrl: config.url,
          fetchFn: fetchFor(place),
          forceReauthorization: true,
          ...(challenge?.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
          ...(scope !== undefined && { scope }),
        }
        try {
          await auth(provider, asked)
        } catch (error) {
          if (!(error instanceof IssuerMismatchError) || !isBesideServer(config.url, error)) throw error
          await auth(provider, { ...asked, skipIssuerMetadataValidation: true })
          if (!isAllBesideServer(config.url, attempt.entry)) throw error
        }
        mustBeIssuer(oauth, attempt.entry)
        refuseOddEndpoints(attempt.entry, oauth)
      } catch (error) {
        const { message } = reasonOf(error)
        if (/regist/i.test(message)) unregistered.add(server)
        throw new SvcError('request.unprocessable', `Nobody can sign in to "${server}": ${message}`, { server }, { cause: error })
      }
      const { address } = attempt
      if (address === undefined || !/^https?:$/.test(address.protocol))
        throw new SvcError(
          'request.unprocessable',
          `Nobody can sign in to "${server}": its authorization server names no address for it.`,
          { server },
        )
      unregistered.delete(server)
      await credentials.change(server, config.url, () => attempt.entry)
      return { authorizationUrl: address.href, oauthState }
    },
    directoryOf: credentials.directoryOf,
    async take({ server, config }, state) {
      if (!isUnderWay(await credentials.get(server, config.url), state)) return undefined
      let taken: ServerCredentials | undefined
      // I1: who takes it looks and changes in one turn, however many come at once.
      await credentials.change(server, config.url, (entry) => {
        if (!isUnderWay(entry, state)) return entry
        taken = entry
        const { oauthState: _s, codeVerifier: _v, oauthDirectory: _d, oauthStarted: _t, ...rest } = entry
        return rest
      })
      return taken === undefined || clock.now() - (taken.oauthStarted ?? 0) > LIMITS.mcp.attemptAge ? undefined : taken
    },
    async finish(place, taken, { code, iss }) {
      const { server, config } = place
      const { auth } = await load()
      const attempt: Attempt = { entry: taken, address: undefined }
      const redirectUri = taken.oauthRedirectUri ?? redirectOf(place)
      const provider = signInProvider({ attempt, redirectUri, config: oauthOf(place), now: () => clock.now() })
      try {
        await auth(provider, {
          serverUrl: config.url,
          authorizationCode: code,
          fetchFn: fetchFor(place),
          ...(iss !== undefined && { iss }),
        })
      } catch (error) {
        throw new SvcError(
          'request.unprocessable',
          `The sign-in to "${server}" was refused: ${reasonOf(error).message}`,
          { server },
          { cause: error },
        )
      }
      const { oauthState: _s, codeVerifier: _v, oauthDirectory: _d, oauthStarted: _t, ...entry } = attempt.entry
      await credentials.change(server, config.url, () => entry)
    },
    async remove(place) {
      challenges.delete(keyOf(place))
      unregistered.delete(place.server)
      const entry = await credentials.get(place.server, place.config.url)
      await credentials.change(place.server, place.config.url, () => undefined)
      if (entry !== undefined) await revokeTokens(effects, { server: place.server, entry, config: oauthOf(place), fetch: fetchFor(place) })
    },
  }
}

/**
 * Servers of 2025-03 have no metadata of their own as a resource: they are their authorization server, at a path of their own. What names an
 * issuer of the same origin as the server names nobody else.
 */
function isBesideServer(url: string, { kind, expected, received }: { kind: string; expected?: unknown; received?: unknown }): boolean {
  const { origin } = new URL(url)
  return kind === 'metadata' && [expected, received].every((issuer) => originOf(issuer) === origin)
}

/** I1: nothing that is used for it leads elsewhere, and no metadata of the resource named another. */
function isAllBesideServer(url: string, entry: ServerCredentials): boolean {
  const { authorizationServerMetadata: metadata, resourceMetadata } = discoveryOf(entry, {}) ?? {}
  if (metadata === undefined || resourceMetadata !== undefined) return false
  const { issuer, authorization_endpoint: authorization, token_endpoint: token, registration_endpoint: registration = issuer } = metadata
  return [issuer, authorization, token, registration].every((address) => originOf(address) === new URL(url).origin)
}

function isUnderWay(entry: ServerCredentials | undefined, state: string | undefined): boolean {
  return entry?.oauthState !== undefined && (state === undefined || state === entry.oauthState)
}

/** Every address of the authorization server is one of the web, before anybody is sent there or a code is (threat-model N3). */
function refuseOddEndpoints(entry: ServerCredentials, config: McpOAuthConfig): void {
  const { authorizationServerMetadata = {} } = discoveryOf(entry, config) ?? {}
  for (const [name, address] of Object.entries(authorizationServerMetadata)) {
    if (!name.endsWith('_endpoint') || typeof address !== 'string' || /^https?:$/.test(protocolOf(address))) continue
    throw new Error(`its authorization server names no address of http or https as its ${name}`)
  }
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : ''
}

function originOf(address: unknown): string | undefined {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).origin : undefined
}

/** Throws where the configuration names another authorization server than was found. */
function mustBeIssuer({ issuer }: McpOAuthConfig, entry: ServerCredentials): void {
  const found = discoveryOf(entry, {})
  const named = found?.authorizationServerMetadata?.issuer ?? found?.authorizationServerUrl
  const plain = (text = '') => text.replace(/\/$/, '')
  if (issuer !== undefined && plain(named) !== plain(issuer)) throw new Error(`its authorization server is not ${issuer}`)
}

/** The library tells what does not fit a schema as a list of it all. */
function reasonOf(error: unknown): { readonly message: string } {
  if (error instanceof Error && error.name === 'ZodError') return { message: 'the answers of its authorization server are not valid' }
  return toFailure(error)
}

/** Another redirect needs another registration. */
function withClientFor(entry: ServerCredentials, before: ServerCredentials, redirectUri: string): ServerCredentials {
  if (before.oauthRedirectUri === redirectUri) return entry
  const { clientInfo: _, ...rest } = entry
  return rest
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
