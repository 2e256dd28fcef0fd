/**
 * OAuth as `openid-client` speaks it (subsystems c.7; threat-model N1–N3). Loaded when somebody first signs in or a token is renewed.
 *
 * I1 Authorization servers are asked by the guarded way out: hosts that the installation names, else public addresses, no redirects.
 * I2 PKCE S256, a state and the check of the issuer are part of every sign-in.
 * I3 No message tells a code, a token or what else a server answered beside its reason, which is one of those the standards name.
 * I4 What a server says is judged before it is kept: tokens that can be sent, times that there are, and a pace of asking that is bearable.
 */
import type * as Library from 'openid-client'
import { SvcError } from '../../../protocol/errors.js'
import { parseForeign } from '../../../protocol/text/foreign-json.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import { timeLimit } from '../../../kernel/patience.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { Effects } from '../../../ports/effects.js'
import { readAnswer } from '../../../protocol/text/bounded-answer.js'
import { isSendable } from '../../../protocol/text/bearer.js'
import { OAUTH_REASONS } from '../../../protocol/provider/oauth-reasons.js'
import { checkedAddress, isLoopback } from './settings.js'

export interface Tokens {
  readonly access: string
  /** '' = none: it cannot be renewed. */
  readonly refresh: string
  /** Unix ms; 0 = it does not expire. */
  readonly expires: number
  readonly accountId: string | undefined
}

/** A request for authorization that is under way; its secrets stay here. */
export interface BrowserGrant {
  readonly url: string
  readonly state: string
  /** The server names itself in its answers: a code alone does not do. */
  readonly needsAddress: boolean
  /** Whether an authorization response is the one this request waits for, whatever it says. */
  isOurs(answer: URL): boolean
  /** Makes tokens of the authorization response, once. */
  exchange(answer: URL): Promise<Tokens>
}

export interface DeviceGrant {
  readonly url: string
  readonly code: string
  /** Resolves once the device is admitted; `undefined` = the vendor waits no longer. */
  tokens(signal: AbortSignal): Promise<Tokens | undefined>
}

export interface OAuth {
  browser(settings: SignInConfig, redirect: string): Promise<BrowserGrant>
  device(settings: SignInConfig): Promise<DeviceGrant>
  /** Throws `RefusedRefresh` when the vendor says no. */
  refresh(settings: SignInConfig, refresh: string): Promise<Tokens>
}

/** The vendor does not take the token any more. */
export class RefusedRefresh extends Error {}

const { devicePace: DEVICE_PACE } = LIMITS.signIn

type OAuthEffects = Pick<Effects, 'network' | 'clock'>

export function createOAuth(effects: OAuthEffects): OAuth {
  const servers = createLru<string, Library.Configuration>(LIMITS.signIn.servers)
  const now = () => effects.clock.now()

  const serverOf = async (client: typeof Library, settings: SignInConfig): Promise<Library.Configuration> => {
    const key = JSON.stringify(settings)
    const known = servers.get(key) ?? (await configure(client, settings, effects))
    servers.set(key, known)
    return known
  }

  return {
    async browser(settings, redirect) {
      const client = await import('openid-client')
      const server = await said(() => serverOf(client, settings))
      if (server.serverMetadata().authorization_endpoint === undefined) throw unable('a browser')
      const verifier = client.randomPKCECodeVerifier()
      const state = client.randomState()
      const url = client.buildAuthorizationUrl(server, {
        ...settings.parameters,
        redirect_uri: redirect,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        ...(settings.scope === undefined ? {} : { scope: settings.scope }),
      })
      refuseOddAddress(url)
      return {
        url: url.href,
        state,
        needsAddress: server.serverMetadata().authorization_response_iss_parameter_supported === true,
        isOurs: (answer) => answer.searchParams.getAll('state').join() === state,
        exchange: (answer) =>
          said(async () =>
            tokensOf(await client.authorizationCodeGrant(server, answer, { pkceCodeVerifier: verifier, expectedState: state }), now()),
          ),
      }
    },
    async device(settings) {
      const client = await import('openid-client')
      const server = await said(() => serverOf(client, settings))
      if (server.serverMetadata().device_authorization_endpoint === undefined) throw unable('another device')
      const device = await said(() =>
        client.initiateDeviceAuthorization(server, settings.scope === undefined ? {} : { scope: settings.scope }),
      )
      const page = device.verification_uri_complete ?? device.verification_uri
      refuseOddAddress(URL.canParse(page) ? new URL(page) : undefined)
      if (device.user_code.length > LIMITS.signIn.userCode)
        throw new SvcError('request.unprocessable', 'The authorization server names a code that nobody can enter.')
      // I4: the library asks at whatever pace the server names.
      const { interval = DEVICE_PACE.usual } = device
      const paced = { ...device, interval: Math.min(Math.max(interval, DEVICE_PACE.quickest), DEVICE_PACE.slowest) }
      return {
        url: page,
        code: printable(device.user_code),
        async tokens(signal) {
          try {
            return await said(async () => tokensOf(await client.pollDeviceAuthorizationGrant(server, paced, {}, { signal }), now()))
          } catch (error) {
            if (reasonOf(error) === 'expired_token') return undefined
            throw error
          }
        },
      }
    },
    async refresh(settings, refresh) {
      const client = await import('openid-client')
      try {
        const server = await said(() => serverOf(client, settings))
        return await said(async () => tokensOf(await client.refreshTokenGrant(server, refresh), now()))
      } catch (error) {
        const reason = reasonOf(error)
        if (reason === 'invalid_grant' || reason === 'invalid_client' || reason === 'unauthorized_client')
          throw new RefusedRefresh(error instanceof Error ? error.message : reason)
        throw error
      }
    },
  }
}

async function configure(client: typeof Library, settings: SignInConfig, effects: OAuthEffects): Promise<Library.Configuration> {
  const { clientId = '' } = settings
  const issuer = checkedAddress('issuer', settings)
  const token = checkedAddress('tokenUrl', settings)
  const authorization = checkedAddress('authorizationUrl', settings)
  const device = checkedAddress('deviceUrl', settings)
  const named = [issuer, token, authorization, device].filter((url) => url !== undefined)
  const isLocal = named.some(({ protocol }) => protocol === 'http:')
  const customFetch = guardedBy(effects, [...new Set(named.map(({ host }) => host))])
  const isKnown = token !== undefined && (authorization ?? device) !== undefined
  if (!isKnown) {
    if (issuer === undefined)
      throw new SvcError(
        'request.unprocessable',
        'Signing in needs "signIn.issuer", or "signIn.tokenUrl" and "signIn.authorizationUrl" or "signIn.deviceUrl".',
      )
    return client.discovery(issuer, clientId, undefined, client.None(), {
      [client.customFetch]: customFetch,
      ...(isLocal && { execute: [client.allowInsecureRequests] }),
    })
  }
  const metadata: Library.ServerMetadata = {
    issuer: withoutSlash(settings.issuer ?? token.origin),
    token_endpoint: token.href,
    ...(authorization !== undefined && { authorization_endpoint: authorization.href }),
    ...(device !== undefined && { device_authorization_endpoint: device.href }),
  }
  const server = new client.Configuration(metadata, clientId, undefined, client.None())
  server[client.customFetch] = customFetch
  if (isLocal) client.allowInsecureRequests(server)
  return server
}

/** I1. */
function guardedBy({ network, clock }: OAuthEffects, allowHosts: readonly string[]): Library.CustomFetch {
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address)
    if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw new Error('the address is not encrypted')
    const limit = timeLimit(clock, LIMITS.signIn.request, `no answer within ${LIMITS.signIn.request} ms`)
    try {
      const { response } = await network.guardedFetch(address, {
        method,
        headers: Object.fromEntries(new Headers({ accept: 'application/json', ...headers })),
        ...textOf(body),
        signal: signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]),
        allowHosts,
        maxRedirects: 0,
      })
      const { status, statusText } = response
      const text = response.body === null ? '' : await readAnswer(new Response(response.body), LIMITS.signIn.answerBytes)
      return new Response(isBodiless(status) ? null : text, { status: honestStatus(status, text), statusText, headers: response.headers })
    } finally {
      limit.clear()
    }
  }
}

/** Everything the library sends is a form. */
function textOf(body: unknown): { body?: string } {
  if (body instanceof URLSearchParams) return { body: body.toString() }
  return typeof body === 'string' ? { body } : {}
}

/** Some vendors say no with status 200. */
function honestStatus(status: number, text: string): number {
  if (status !== 200) return status
  try {
    const answer: unknown = parseForeign(text)
    return isRecord(answer) && typeof answer['error'] === 'string' ? 400 : status
  } catch {
    return status // the library tells what is wrong with it
  }
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 304
}

function tokensOf(answer: Library.TokenEndpointResponse & Library.TokenEndpointResponseHelpers, now: number): Tokens {
  const lasts = answer.expiresIn()
  const { access_token: access, refresh_token: refresh = '' } = answer
  if (!isSendable(access) || !(refresh === '' || isSendable(refresh)))
    throw new SvcError('request.unprocessable', 'The authorization server gave a token that cannot be sent to anybody.')
  return {
    access,
    refresh,
    expires: lasts === undefined ? 0 : Math.min(Math.ceil(now + lasts * 1000), Number.MAX_SAFE_INTEGER),
    accountId: accountOf(answer.claims()),
  }
}

/** The account of a subscription, where the vendor names one in its id token. */
function accountOf(claims: unknown): string | undefined {
  const vendor = isRecord(claims) ? claims['https://api.openai.com/auth'] : undefined
  const id = isRecord(vendor) ? vendor['chatgpt_account_id'] : undefined
  return typeof id === 'string' && id.length <= LIMITS.connections.label && isSendable(id) ? id : undefined
}

/** Runs a step of the library; what it rejects with becomes a sentence (I3). */
async function said<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof SvcError) throw error
    const reason = reasonOf(error)
    throw new SvcError('request.unprocessable', `The authorization server ${whyOf(error, reason)}.`, {}, { cause: new Reason(reason) })
  }
}

class Reason extends Error {}

/** The code of what a server answered: `invalid_grant`, `access_denied`. */
function reasonOf(error: unknown): string {
  if (error instanceof SvcError) return error.cause instanceof Reason ? error.cause.message : ''
  const reason: unknown = error instanceof Error ? Reflect.get(error, 'error') : undefined
  return typeof reason === 'string' && OAUTH_REASONS.has(reason) ? reason : ''
}

function whyOf(error: unknown, reason: string): string {
  if (reason !== '') return `refused: ${reason}`
  if (error instanceof Error && typeof Reflect.get(error, 'error') === 'string') return 'refused, for a reason that no standard names'
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof SvcError) return `cannot be used: ${cause.message.replace(/\.$/, '')}`
  if (typeof code === 'string' && /^[A-Z_]{1,64}$/.test(code)) return `did not answer as it should (${code})`
  return 'could not be reached'
}

/** Only what a browser may be sent to. */
function refuseOddAddress(url: URL | undefined): void {
  if (url !== undefined && url.href.length > LIMITS.signIn.address)
    throw new SvcError('request.unprocessable', 'The authorization server names an address that no browser takes.')
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return
  throw new SvcError('request.unprocessable', 'The authorization server names an address that is neither https nor on this machine.')
}

function unable(how: string): SvcError {
  return new SvcError('request.unprocessable', `The authorization server cannot be asked with ${how}.`)
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '')
}
