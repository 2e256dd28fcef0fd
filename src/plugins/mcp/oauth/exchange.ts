/**
 * The two ends of a sign-in to a server: where somebody is sent, and what the code is exchanged for (subsystems f.5).
 *
 * I1 The code is exchanged with the issuer that the attempt was begun with. PKCE is S256 always: the library refuses less.
 * I2 What it throws is `request.unprocessable`, in words for people; nothing secret is in them.
 */
import { SvcError, toFailure } from '../../../protocol/errors.js'
import type { ServerCredentials } from './credentials.js'
import { isAllBesideServer, isBesideServer, mustBeIssuer, refuseOddEndpoints } from './issuers.js'
import { fetchFor, keyOf, loadLibrary, oauthOf, redirectOf, type SignInDeps, type SignInNotes, type SignInPlace } from './place.js'
import { type Attempt, signInProvider } from './provider.js'

/** What the browser brought back. */
export interface Returned {
  readonly code: string
  readonly iss: string | undefined
}

/** Asks the server and its authorization server, and stores the attempt of this state; answers where somebody goes. */
export async function offerSignIn(
  deps: SignInDeps,
  notes: SignInNotes,
  place: SignInPlace,
  { state: oauthState, directory }: { readonly state: string; readonly directory: string },
): Promise<string> {
  const { credentials, effects } = deps
  const { server, config } = place
  const redirectUri = redirectOf(deps, place)
  const { codeVerifier: _, discovery: _found, ...before } = (await credentials.get(server, config.url)) ?? { serverUrl: config.url }
  const entry = { ...before, oauthState, oauthDirectory: directory, oauthRedirectUri: redirectUri, oauthStarted: effects.clock.now() }
  const attempt: Attempt = { entry: withClientFor(entry, before, redirectUri), address: undefined }
  try {
    await askForAddress(deps, notes, place, { attempt, redirectUri, scope: before.tokens?.scope })
  } catch (error) {
    const { message } = reasonOf(error)
    if (/regist/i.test(message)) notes.unregistered.add(server)
    throw new SvcError('request.unprocessable', `Nobody can sign in to "${server}": ${message}`, { server }, { cause: error })
  }
  const { address } = attempt
  if (address === undefined || !/^https?:$/.test(address.protocol))
    throw new SvcError('request.unprocessable', `Nobody can sign in to "${server}": its authorization server names no address for it.`, {
      server,
    })
  notes.unregistered.delete(server)
  await credentials.change(server, config.url, () => attempt.entry)
  return address.href
}

interface Asking {
  readonly attempt: Attempt
  readonly redirectUri: string
  /** Of the tokens there were. */
  readonly scope: string | undefined
}

async function askForAddress(
  deps: SignInDeps,
  { challenges }: SignInNotes,
  place: SignInPlace,
  { attempt, redirectUri, scope: before }: Asking,
): Promise<void> {
  const { auth, computeScopeUnion, IssuerMismatchError } = await loadLibrary()
  const { url } = place.config
  const oauth = oauthOf(place)
  const provider = signInProvider({ attempt, redirectUri, config: oauth, now: () => deps.effects.clock.now() })
  const challenge = challenges.get(keyOf(place))
  const scope = challenge?.scope === undefined ? undefined : computeScopeUnion(before, challenge.scope)
  const asked = {
    serverUrl: url,
    fetchFn: fetchFor(deps, place),
    forceReauthorization: true,
    ...(challenge?.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  }
  try {
    await auth(provider, asked)
  } catch (error) {
    if (!(error instanceof IssuerMismatchError) || !isBesideServer(url, error)) throw error
    await auth(provider, { ...asked, skipIssuerMetadataValidation: true })
    if (!isAllBesideServer(url, attempt.entry)) throw error
  }
  mustBeIssuer(oauth, attempt.entry)
  refuseOddEndpoints(attempt.entry, oauth)
}

/** Exchanges the code for tokens, which it stores. */
export async function exchangeCode(deps: SignInDeps, place: SignInPlace, taken: ServerCredentials, { code, iss }: Returned): Promise<void> {
  const { server, config } = place
  const { auth } = await loadLibrary()
  const attempt: Attempt = { entry: taken, address: undefined }
  const redirectUri = taken.oauthRedirectUri ?? redirectOf(deps, place)
  const provider = signInProvider({ attempt, redirectUri, config: oauthOf(place), now: () => deps.effects.clock.now() })
  try {
    await auth(provider, {
      serverUrl: config.url,
      authorizationCode: code,
      fetchFn: fetchFor(deps, place),
      ...(iss !== undefined && { iss }),
    })
  } catch (error) {
    const message = `The sign-in to "${server}" was refused: ${reasonOf(error).message}`
    throw new SvcError('request.unprocessable', message, { server }, { cause: error })
  }
  const entry = withoutAttempt(attempt.entry)
  await deps.credentials.change(server, config.url, () => entry)
}

/** What stays of an attempt that is taken: what was found for it. */
export function withoutAttempt(entry: ServerCredentials): ServerCredentials {
  const { oauthState: _s, codeVerifier: _v, oauthDirectory: _d, oauthStarted: _t, ...rest } = entry
  return rest
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
