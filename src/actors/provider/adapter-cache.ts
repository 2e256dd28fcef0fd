/** Adapters of configured providers, kept between calls, and the token each call is made with. */
import { SvcError } from '../../protocol/errors.js'
import { createLru, type Lru } from '../../kernel/lru.js'
import type { ProviderContribution } from '../../ports/plugin.js'
import { type ProviderAdapter, ProviderError } from '../../ports/provider-adapter.js'
import type { CatalogProvider } from './catalog/catalog.js'
import type { Renewal } from './sign-in/tokens.js'

const KEPT_ADAPTERS = 64

interface Held {
  provider: CatalogProvider
}
type Key = (provider: CatalogProvider) => string | undefined

/** The adapter of a provider that may be called; a key that has changed since it was made is the one it sends. */
export function createAdapterCache(key: Key, renewal: Renewal | undefined): (provider: CatalogProvider) => ProviderAdapter {
  interface Kept {
    readonly adapter: ProviderAdapter
    readonly held: Held
  }
  const adapters = new WeakMap<ProviderContribution, Lru<string, Kept>>()
  return (provider) => {
    const { id: providerId, npm, baseURL, headers, options, compatibility, contribution } = provider
    if (contribution === undefined) throw new SvcError('request.invalid', `Provider "${providerId}" has no adapter.`)
    const kept = adapters.get(contribution) ?? createLru<string, Kept>(KEPT_ADAPTERS)
    adapters.set(contribution, kept)
    const { connectionId, accountId, type } = provider.stored ?? {}
    const identity = JSON.stringify([
      providerId,
      npm,
      provider.auth,
      provider.env,
      baseURL,
      options,
      compatibility,
      connectionId,
      accountId,
      type,
    ])
    const known = kept.get(identity)
    const held = known?.held ?? { provider }
    held.provider = provider
    const make = () => {
      const apiKey = () => key(held.provider)
      const hasToken = () => {
        const { stored } = held.provider
        return stored?.type === 'oauth' && key(held.provider) === stored.secret
      }
      const made = contribution.create({ providerId, npm, baseURL, apiKey, hasToken, headers, options, compatibility })
      const isRenewed = provider.stored?.type === 'oauth' && contribution.administration === undefined
      return renewal === undefined || !isRenewed ? made : withRenewal(made, { held, key, renewal })
    }
    const adapter = known?.adapter ?? make()
    kept.set(identity, { adapter, held })
    return adapter
  }
}

/** Calls with a token that is good now; one that is refused before anything was said is renewed once. */
function withRenewal(
  adapter: ProviderAdapter,
  { held, key, renewal }: { readonly held: Held; readonly key: Key; readonly renewal: Renewal },
): ProviderAdapter {
  return {
    async generate(request, push, signal) {
      const { stored, id } = held.provider
      if (stored === undefined || key(held.provider) !== stored.secret) return adapter.generate(request, push, signal)
      const renew = async (rejected?: string) => {
        const secret = await unlessAborted(renewal.secret(id, stored, rejected), signal, id)
        held.provider = { ...held.provider, stored: { ...stored, secret } }
        return secret
      }
      const secret = await renew()
      let isSilent = true
      try {
        await adapter.generate(
          request,
          (part) => {
            isSilent = false
            push(part)
          },
          signal,
        )
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.unauthorized || !isSilent || signal.aborted) throw error
        if ((await renew(secret)) === secret) throw error
        return adapter.generate(request, push, signal)
      }
    },
  }
}

export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, providerId: string): Promise<T> {
  const aborted = () =>
    new ProviderError(`The request to provider "${providerId}" was aborted.`, { retryable: false, cause: signal.reason })
  let leave = (): void => undefined
  const left = new Promise<never>((_resolve, reject) => {
    leave = () => reject(aborted())
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([left, work])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
