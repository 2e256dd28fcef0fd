/** The coordinator's side of the bridge to a provider (http-contract §7.2): what a driver does, asked over HTTP. */
import {
  type Allocation,
  isOf,
  type MachineHandle,
  type MachineStatus,
  ProtocolRequest,
  ProtocolResponse,
  type ProviderError,
} from '../records/machines.js'

export type Verb = 'ensure' | 'inspect' | 'start' | 'stop' | 'destroy'

export interface Provider {
  ask(verb: Verb, allocation: Allocation, handle?: MachineHandle | null): Promise<MachineStatus>
}

/** How a provider has failed, in the words of the contract. */
export class ProviderFailure extends Error {
  readonly error: ProviderError

  constructor(code: ProviderError['code'], retryable: boolean, message: string, options?: ErrorOptions) {
    super(message, options)
    this.error = { code, retryable }
  }
}

const BY_STATUS: Readonly<Record<number, readonly [ProviderError['code'], boolean]>> = {
  400: ['rejected', false],
  401: ['unauthorized', false],
  403: ['unauthorized', false],
  404: ['not_found', false],
  409: ['conflict', false],
  429: ['unavailable', true],
  500: ['unavailable', true],
}

export interface ProviderOptions {
  readonly url: string
  readonly bearer: string
  /** Making a machine may take as long, ms. */
  readonly timeout?: number
}

export function createProvider({ url, bearer, timeout = 60_000 }: ProviderOptions): Provider {
  return {
    async ask(verb, allocation, handle = null) {
      const response = await post(
        new URL(`/v2/runtime/${verb}`, url),
        bearer,
        timeout,
        ProtocolRequest.parse({ version: 2, allocation, handle }),
      )
      const body: unknown = await response.json().catch(() => undefined)
      if (response.status !== 200 && response.status !== 202) {
        const [code, retryable] = BY_STATUS[response.status] ?? ['protocol', false]
        throw new ProviderFailure(code, retryable, `the provider answered ${response.status} to ${verb}`)
      }
      const answer = ProtocolResponse.safeParse(body)
      if (!answer.success) throw new ProviderFailure('protocol', false, `the provider answered ${verb} with what is no status`)
      const { status } = answer.data
      // An answer about another machine is never taken for one about ours.
      if (!isOf(allocation, status.handle)) throw new ProviderFailure('identity', false, `the provider answered ${verb} of another machine`)
      return status
    },
  }
}

async function post(url: URL, bearer: string, timeout: number, body: ProtocolRequest): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    })
  } catch (cause) {
    const code = cause instanceof DOMException && cause.name === 'TimeoutError' ? 'timeout' : 'transport'
    throw new ProviderFailure(code, true, `the provider could not be asked (${code})`, { cause })
  }
}
