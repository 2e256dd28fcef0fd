/**
 * One request that a plugin asks for, through the guard of `effects.network` (threat-model N1, N2, G4).
 *
 * I1 The hosts the manifest names bound every address, redirects too; networks of this machine need the installation to list the host as well.
 * I2 A secret goes to hosts it is declared for, encrypted, and to no other origin; nothing that comes back holds it.
 * I3 What the host itself decides about a request (where it goes, how long it is) no header of the plugin says.
 */
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { isNamedHost } from '../../../../protocol/plugin/host-pattern.js'
import type { OperationInput } from '../../../../protocol/plugin/broker-operations.js'
import { type ByteFilter, secretFilter, secretForms, withoutSecrets } from '../../../../protocol/text/known-secrets.js'
import { isOwnListener } from '../../../../protocol/web/own-listener.js'
import type { Effects, GuardedRequest } from '../../../../ports/effects.js'
import type { BrokerLease } from '../broker.js'
import type { PluginSecrets } from '../secrets/plugin-secrets.js'

export interface RequestDeps {
  readonly effects: Pick<Effects, 'clock' | 'network'>
  readonly secrets: PluginSecrets
  /** Address of this server, once it is known. */
  serverUrl(): string | undefined
}

type Asked = Omit<OperationInput<'network', 'open'>, 'upload'>

export interface Answered {
  readonly url: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: ReadableStream<Uint8Array> | null
  /** What every piece of the body passes. */
  readonly filter: ByteFilter
}

/** Said by the host alone. */
const DECIDED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const MANY = 'have more than there is room for'

export async function send(
  { effects, secrets, serverUrl }: RequestDeps,
  lease: BrokerLease,
  asked: Asked,
  { body, signal }: Pick<GuardedRequest, 'body' | 'signal'>,
): Promise<Answered> {
  const { url: address, method, redirects, credential } = asked
  if (!URL.canParse(address)) throw new SvcError('request.unprocessable', 'the url is no address')
  const to = new URL(address)
  const whyNot = whyNotReached(lease, serverUrl())
  const why = whyNot(to)
  if (why !== undefined) throw new SvcError('request.forbidden', `${to.host} ${why}`)
  const headers = headersOf(asked.headers)
  const secret = credential === undefined ? undefined : await secrets.header(lease, credential.alias, to)
  if (secret !== undefined) headers.set(secret.name, secret.text)
  const forms = secret === undefined ? [] : secret.values.flatMap(secretForms)
  const shown = (text: string): string => withoutSecrets(text, forms)
  try {
    const { response, url } = await effects.network.guardedFetch(to.href, {
      method,
      headers: Object.fromEntries(headers),
      signal,
      ...(body !== undefined && { body }),
      allowHosts: lease.listedHosts,
      maxRedirects: redirects,
      refusesRedirect: whyNot,
    })
    const coding = response.headers.get('content-encoding') ?? 'identity'
    if (secret !== undefined && coding.toLowerCase() !== 'identity') {
      await response.body?.cancel()
      throw new SvcError('request.unprocessable', `${to.host} answers in ${coding}, in which a secret would not be found`)
    }
    const told = Object.fromEntries([...response.headers].map(([name, value]) => [name, shown(value)]))
    return { url: shown(url), status: response.status, headers: told, body: response.body, filter: secretFilter(forms) }
  } catch (error) {
    throw withoutForms(explained(error, to.host, signal), forms)
  }
}

/** I2. An address that a redirect leads to is said in an error, its host in small letters. */
function withoutForms(error: SvcError, forms: readonly string[]): SvcError {
  const every = [...forms, ...forms.map((form) => form.toLowerCase())]
  const message = withoutSecrets(error.message, every)
  return message === error.message ? error : new SvcError(error.code, message)
}

/** I1. Why an address is not reached, as the end of a sentence that begins with its host. */
function whyNotReached({ declared, listedHosts }: BrokerLease, own: string | undefined): (to: URL) => string | undefined {
  const named = declared.network?.hosts
  return (to) => {
    if (isOwnListener(own, to, listedHosts)) return 'is this server, which no plugin reaches this way'
    if (named !== undefined && !isNamedHost(to, named)) return `is not one of the hosts that the manifest names: ${named.join(', ')}`
    return undefined
  }
}

/** I3. */
function headersOf(given: Readonly<Record<string, string>>): Headers {
  const entries = Object.entries(given)
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const { headers: most, headerBytes } = LIMITS.pluginNetwork
  if (entries.length > most || size > headerBytes) throw new SvcError('request.unprocessable', `the headers ${MANY}: ${headerBytes} bytes`)
  const headers = new Headers()
  for (const [name, value] of entries) {
    if (DECIDED.has(name.toLowerCase())) throw new SvcError('request.unprocessable', `the header ${name} is set by the host alone`)
    headers.append(name, value)
  }
  return headers
}

/** What went wrong, in words of ours; the network's own error is named by its code. */
export function explained(error: unknown, host: string, signal: AbortSignal): SvcError {
  if (error instanceof SvcError) return error
  if (signal.aborted && signal.reason instanceof SvcError) return signal.reason
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const why = typeof code === 'string' ? code : cause instanceof Error ? cause.message : 'unknown error'
  return new SvcError('request.unprocessable', `the request to ${host} failed: ${why}`, { host }, { cause: error })
}
