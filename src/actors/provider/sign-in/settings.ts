/** What this installation and svc know of signing in at a provider (subsystems c.7). Pure. */
import { SvcError } from '../../../protocol/errors.js'
import { isRecord } from '../../../protocol/text/json.js'
import { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { ConfigDocument } from '../../../protocol/resource/config.js'
import type { ProviderAuthMethod } from '../../../protocol/provider/sign-in.js'
import type { SignInKind } from '../../../machines/sign-in/sign-in.machine.js'

/** A way to connect a provider: a sign-in, a token or a key that is pasted. */
type MethodKind = SignInKind | 'token' | 'api' | 'plugin'

export interface Method {
  readonly kind: MethodKind
  readonly shown: ProviderAuthMethod
}

const ANY_PORT = 'http://127.0.0.1/auth/callback'

/** Addresses of vendors that publish no metadata, or sign in for a subscription. The client id is the installation's own: svc has none. */
const VENDORS: Readonly<Record<string, SignInConfig>> = {
  openai: {
    issuer: 'https://auth.openai.com',
    authorizationUrl: 'https://auth.openai.com/oauth/authorize',
    tokenUrl: 'https://auth.openai.com/oauth/token',
    redirectUrl: 'http://localhost:1455/auth/callback',
    scope: 'openid profile email offline_access',
    baseURL: 'https://chatgpt.com/backend-api/codex',
    limit: { context: 400_000, input: 272_000, output: 128_000 },
    usageUrl: 'https://chatgpt.com/backend-api/wham/usage',
  },
  'github-copilot': {
    issuer: 'https://github.com',
    deviceUrl: 'https://github.com/login/device/code',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    scope: 'read:user',
  },
}

/** The settings of a provider; undefined while the vendor has not registered this installation. */
export function signInSettings(document: ConfigDocument, providerId: string): SignInConfig | undefined {
  const providers = document['provider']
  const configured = isRecord(providers) && Object.hasOwn(providers, providerId) ? providers[providerId] : undefined
  const own = isRecord(configured) ? SignInConfig.safeParse(configured['signIn']) : undefined
  const vendor = Object.hasOwn(VENDORS, providerId) ? VENDORS[providerId] : undefined
  return own?.success === true && (own.data.clientId ?? '') !== '' ? { ...vendor, ...own.data } : undefined
}

/** Ways to connect a provider, best first. */
export function methodsOf(
  settings: SignInConfig | undefined,
  { hasKey, isSecret, takesTokens }: { readonly hasKey: boolean; readonly isSecret: boolean; readonly takesTokens: boolean },
): Method[] {
  const kinds = settings === undefined ? [] : signInKinds(settings)
  const signIns = kinds.map((kind): Method => ({ kind, shown: { type: 'oauth', label: SIGN_IN[kind] } }))
  if (!isSecret) return signIns
  return [
    ...signIns,
    { kind: 'api', shown: { type: 'api', label: hasKey ? 'API key' : 'Key' } },
    ...(takesTokens ? [{ kind: 'token' as const, shown: { type: 'oauth' as const, label: 'Paste an OAuth token' } }] : []),
  ]
}

/** The method that is meant: by its place in the list, or its kind. Throws `request.invalid`. */
export function chooseMethod(methods: readonly Method[], wanted: string | number): Method {
  const place = typeof wanted === 'number' ? wanted : /^\d{1,4}$/.test(wanted) ? Number(wanted) : undefined
  const found =
    place === undefined
      ? methods.find(({ kind, shown }) => kind === wanted || (wanted === 'oauth' && shown.type === wanted))
      : methods[place]
  if (found !== undefined) return found
  const kinds = methods.map(({ kind }) => kind).join(', ')
  throw new SvcError('request.invalid', `There is no such way to connect this provider${kinds === '' ? '.' : `; there are ${kinds}.`}`)
}

/** Where the vendor sends the user of a sign-in back to. */
export function redirectOf(kind: SignInKind, { redirectUrl, codeRedirectUrl }: SignInConfig): URL {
  const address = kind === 'code' ? (codeRedirectUrl ?? '') : (redirectUrl ?? ANY_PORT)
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) throw wrong(kind === 'code' ? 'codeRedirectUrl' : 'redirectUrl', 'is no address')
  if (kind === 'browser' && (url.protocol !== 'http:' || !isLoopback(url.hostname))) throw wrong('redirectUrl', 'is not on this machine')
  return url
}

/** The configured addresses, checked: TLS, or this machine. */
export function checkedAddress(
  name: 'issuer' | 'authorizationUrl' | 'tokenUrl' | 'deviceUrl' | 'usageUrl',
  settings: SignInConfig,
): URL | undefined {
  const address = settings[name]
  if (address === undefined) return undefined
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) throw wrong(name, 'is no address')
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw wrong(name, 'is neither https nor on this machine')
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function signInKinds({ issuer, authorizationUrl, tokenUrl, deviceUrl, codeRedirectUrl, methods }: SignInConfig): SignInKind[] {
  if (methods !== undefined) return [...new Set(methods)]
  const asks = issuer !== undefined && tokenUrl === undefined
  return [
    ...(asks || authorizationUrl !== undefined ? (['browser'] as const) : []),
    ...((asks || authorizationUrl !== undefined) && codeRedirectUrl !== undefined ? (['code'] as const) : []),
    ...(asks || deviceUrl !== undefined ? (['device'] as const) : []),
  ]
}

const SIGN_IN = {
  browser: 'Sign in with the browser',
  code: 'Sign in and paste a code',
  device: 'Sign in on another device',
} as const

function wrong(name: string, why: string): SvcError {
  return new SvcError(
    'request.unprocessable',
    `"signIn.${name}" of this provider ${why}. Correct it in the configuration of this installation.`,
  )
}
