/** Credentials that the host of a worker lends, one for each provider; in memory alone. */
import { chartOf } from '../../../kernel/machine/chart.js'
import { createActor, fromPromise, type InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { supervise } from '../../../kernel/supervise.js'
import { credentialLeaseMachine } from '../../../machines/worker/credential-lease.machine.js'
import type { Effects } from '../../../ports/effects.js'
import type { ModelBroker } from '../../../ports/model-broker.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { askHost, type LentCredential } from './ask-host.js'

export interface Leases {
  /** What a model is called with now; `rejected` is what the provider has just refused. Rejects with `ProviderError`. */
  take(providerId: string, rejected?: string): Promise<LentCredential>
  /** What is at hand; asks nobody. */
  known(providerId: string): LentCredential | undefined
}

export interface LeasesDeps {
  readonly effects: Pick<Effects, 'fetch' | 'clock' | 'log'>
  readonly broker: ModelBroker
  readonly actors?: ActorRegistry | undefined
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
}

export function createLeases({ effects, broker, actors, inspect }: LeasesDeps): Leases {
  const { clock } = effects
  const credentials = new Map<string, LentCredential>()
  const logic = chartOf(credentialLeaseMachine).provide({
    actors: {
      ask: fromPromise(async ({ input: { providerId }, signal }) => {
        const credential = await askHost(effects, broker, providerId, signal)
        credentials.set(providerId, credential)
        return credential.expires - clock.now()
      }),
    },
  })
  const leases = supervise<typeof credentialLeaseMachine>({
    effects,
    kind: 'credential-lease',
    actors,
    inspect,
    onEnded: (providerId) => credentials.delete(providerId),
  })
  const known = (providerId: string): LentCredential | undefined => {
    const credential = credentials.get(providerId)
    return credential !== undefined && credential.expires > clock.now() ? credential : undefined
  }

  return {
    known,
    async take(providerId, rejected) {
      for (;;) {
        const ref =
          leases.get(providerId) ??
          leases.start(providerId, (options) =>
            createActor(logic, { id: `credential-lease:${providerId}`, input: { providerId }, ...options }),
          )
        if (ref === undefined) throw new ProviderError('The worker is stopping.', { retryable: false })
        await leases.until(providerId, (snapshot) => snapshot.hasTag('good') || snapshot.hasTag('without'))
        const snapshot = ref.getSnapshot()
        if (snapshot.hasTag('without')) throw refusalOf(snapshot.context.failure)
        const credential = known(providerId)
        // It has ended while this machine slept, or the provider takes it no longer.
        if (credential === undefined || credential.secret === rejected) ref.send({ type: 'rejected' })
        else if (snapshot.hasTag('good')) {
          ref.send({ type: 'used' })
          return credential
        }
        if (credential?.secret === rejected) rejected = undefined
      }
    },
  }
}

function refusalOf(
  failure: { readonly kind: string; readonly message: string; readonly retryAfterMs?: number } | undefined,
): ProviderError {
  const { kind = 'unanswered', message = 'The host gives no credential.', retryAfterMs } = failure ?? {}
  return new ProviderError(message, { retryable: kind === 'unanswered', retryAfterMs })
}
