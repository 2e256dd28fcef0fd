/**
 * What a connection is given of somebody who signed in (subsystems f.5).
 *
 * I1 A token is sent to the address it was given for, and is renewed once at a time, however many ask.
 * I2 What an authorization server refuses to renew is forgotten; what merely failed is kept.
 */
import { LIMITS } from '../../../protocol/limits.js'
import { isSendable } from '../../../protocol/text/bearer.js'
import type { Authorization } from '../link/session.js'
import type { Tokens } from './credentials.js'
import { fetchFor, keyOf, loadLibrary, oauthOf, redirectOf, type SignInDeps, type SignInNotes, type SignInPlace } from './place.js'
import { type Attempt, clientOf, discoveryOf, signInProvider, storedTokens } from './provider.js'

/** Says nothing about whether somebody is signed in. */
const TROUBLE: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

export interface Renewals {
  readonly deps: SignInDeps
  readonly notes: SignInNotes
  /** Those under way. */
  readonly renewing: Map<string, Promise<Tokens | undefined>>
}

export function authorizationOf(renewals: Renewals, place: SignInPlace): Authorization {
  const { deps, notes } = renewals
  const { challenges } = notes
  return {
    async token() {
      const tokens = await tokensOf(deps, place)
      if (tokens === undefined || !isDue(deps, tokens)) return tokens?.accessToken
      return (await renew(renewals, place))?.accessToken
    },
    async onUnauthorized({ response }) {
      const { extractWWWAuthenticateParams, UnauthorizedError } = await loadLibrary()
      challenges.set(keyOf(place), extractWWWAuthenticateParams(response))
      const tokens = await tokensOf(deps, place)
      if (tokens?.refreshToken !== undefined && (await renew(renewals, place)) !== undefined) return
      if (tokens !== undefined) await forgetTokens(deps, place)
      throw new UnauthorizedError()
    },
    needs: (scope) => void challenges.set(keyOf(place), { ...challenges.get(keyOf(place)), scope }),
  }
}

async function tokensOf({ credentials }: SignInDeps, { server, config }: SignInPlace): Promise<Tokens | undefined> {
  const tokens = (await credentials.get(server, config.url))?.tokens
  return tokens !== undefined && isSendable(tokens.accessToken) ? tokens : undefined
}

function isDue({ effects }: SignInDeps, { expiresAt }: Tokens): boolean {
  return expiresAt !== undefined && expiresAt * 1000 - LIMITS.mcp.tokenSkew <= effects.clock.now()
}

/** I1; undefined = somebody has to sign in again. */
function renew({ deps, renewing }: Renewals, place: SignInPlace): Promise<Tokens | undefined> {
  const key = keyOf(place)
  const underWay = renewing.get(key)
  if (underWay !== undefined) return underWay
  const work = renewNow(deps, place).finally(() => renewing.delete(key))
  renewing.set(key, work)
  return work
}

async function renewNow(deps: SignInDeps, place: SignInPlace): Promise<Tokens | undefined> {
  const { credentials } = deps
  const { clock, log } = deps.effects
  const { server, config } = place
  const entry = await credentials.get(server, config.url)
  const oauth = oauthOf(place)
  const discovery = entry && discoveryOf(entry, oauth)
  const client = entry && clientOf(entry, undefined, oauth)
  if (entry?.tokens?.refreshToken === undefined || discovery === undefined || client === undefined) return undefined
  const { refreshAuthorization, selectResourceURL, OAuthError } = await loadLibrary()
  const before = entry.tokens
  const issuer = discovery.authorizationServerMetadata?.issuer ?? discovery.authorizationServerUrl
  if (before.issuer !== undefined && before.issuer !== issuer) return undefined
  try {
    const attempt: Attempt = { entry, address: undefined }
    const provider = signInProvider({ attempt, redirectUri: redirectOf(deps, place), config: oauth, now: () => clock.now() })
    const resource = await selectResourceURL(config.url, provider, discovery.resourceMetadata)
    const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
      clientInformation: client,
      refreshToken: before.refreshToken ?? '',
      fetchFn: fetchFor(deps, place),
      ...(discovery.authorizationServerMetadata && { metadata: discovery.authorizationServerMetadata }),
      ...(resource && { resource }),
    })
    const tokens = storedTokens({ ...renewed, issuer }, clock.now(), before)
    await credentials.change(server, config.url, (now) => ({ ...now, tokens }))
    return tokens
  } catch (error) {
    if (!(error instanceof OAuthError) || TROUBLE.has(error.code)) throw error // I2
    log.info('a sign-in to a server was not renewed', { server, code: error.code })
    await forgetTokens(deps, place)
    return undefined
  }
}

async function forgetTokens({ credentials }: SignInDeps, { server, config }: SignInPlace): Promise<void> {
  await credentials.change(server, config.url, ({ tokens: _tokens, ...entry }) => entry)
}
