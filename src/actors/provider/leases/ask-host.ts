/**
 * One question to the host of a worker: a credential for the models of a provider (docs/workers.md).
 *
 * I1 The bearer goes to the address of the start and nowhere else: no redirect is followed, no other scheme is spoken.
 * I2 No message tells a credential, or what else the host answered beside its status.
 */
import { NoLease } from '../../../machines/worker/credential-lease.machine.js'
import { timeLimit } from '../../../kernel/patience.js'
import type { Effects } from '../../../ports/effects.js'
import type { ModelBroker } from '../../../ports/model-broker.js'
import { ModelCredential } from '../../../protocol/hosting/model-credential.js'
import { LIMITS } from '../../../protocol/limits.js'
import { messageOf } from '../../../protocol/message-of.js'
import { readAnswer } from '../../../protocol/text/bounded-answer.js'
import { parseForeign } from '../../../protocol/text/foreign-json.js'

const SECOND = 1000
const { patience, answerBytes, shortest, longest } = LIMITS.modelBroker

export interface LentCredential {
  readonly type: 'api' | 'oauth'
  readonly secret: string
  /** Where it is sent; undefined = where the installation says. */
  readonly baseURL: string | undefined
  /** Unix ms. */
  readonly expires: number
}

/** Rejects with `NoLease`. */
export async function askHost(
  { fetch, clock }: Pick<Effects, 'fetch' | 'clock'>,
  broker: ModelBroker,
  providerId: string,
  signal: AbortSignal,
): Promise<LentCredential> {
  const { tenantId, workspaceId, runtimeId, runtimeGeneration } = broker.worker
  const body = JSON.stringify({ version: 1, tenantId, workspaceId, runtimeId, runtimeGeneration, provider: providerId })
  const limit = timeLimit(clock, patience, 'it does not answer')
  const post = (bearer: string) =>
    fetch(broker.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', accept: 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit.signal]),
    })
  try {
    const bearer = broker.bearer()
    let response = await post(bearer)
    if (response.status === 401 && broker.bearer('anew') !== bearer) {
      await response.body?.cancel()
      response = await post(broker.bearer())
    }
    if (!response.ok) {
      await response.body?.cancel()
      throw refusalOf(response, providerId)
    }
    return credentialIn(await readAnswer(response, answerBytes), providerId, clock.now())
  } catch (error) {
    if (error instanceof NoLease) throw error
    throw unanswered(providerId, messageOf(limit.signal.aborted ? limit.signal.reason : error))
  } finally {
    limit.clear()
  }
}

function refusalOf({ status, headers }: Response, providerId: string): NoLease {
  if (status === 410)
    return new NoLease({
      kind: 'over',
      message: 'The host says that this generation of the worker is over (410): it calls no model any more.',
    })
  const why = {
    401: `The host does not take the credential of this worker (401): no model of provider "${providerId}" can be called.`,
    403: `The host gives this worker no credential for provider "${providerId}" (403).`,
    404: `The host has no credential for provider "${providerId}" (404).`,
  }[status]
  if (why !== undefined) return new NoLease({ kind: 'refused', message: why })
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return unanswered(providerId, `status ${status}`, Number.isFinite(seconds) && seconds >= 0 ? seconds * SECOND : undefined)
}

function unanswered(providerId: string, why: string, retryAfterMs?: number): NoLease {
  const message = `The host could not be asked for a credential for provider "${providerId}": ${why}.`
  return new NoLease({ kind: 'unanswered', message, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

function credentialIn(text: string, providerId: string, now: number): LentCredential {
  const read = ModelCredential.safeParse(parseForeign(text))
  if (!read.success || read.data.provider !== providerId) throw unanswered(providerId, 'its answer is no credential for it')
  const { apiKey, token, baseUrl, expiresAt } = read.data
  const expires = Math.min(expiresAt * SECOND, now + longest)
  if (expires - now < shortest) throw unanswered(providerId, 'its credential has expired, or is about to')
  const baseURL = baseUrl?.replace(/\/+$/, '')
  return token === undefined ? { type: 'api', secret: apiKey ?? '', baseURL, expires } : { type: 'oauth', secret: token, baseURL, expires }
}
