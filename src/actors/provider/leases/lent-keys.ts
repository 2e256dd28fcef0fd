/**
 * Providers of a worker that are called with what its host lends: those the installation's own configuration names, and which have no key of
 * their own. A workspace names none: it could send what is lent elsewhere (threat-model K2).
 */
import type { Effects } from '../../../ports/effects.js'
import { type ProviderAdapter, ProviderError } from '../../../ports/provider-adapter.js'
import { unlessAborted } from '../adapter-cache.js'
import type { Catalog, CatalogProvider } from '../catalog/catalog.js'
import { keyOf } from '../keys.js'
import type { LentCredential } from './ask-host.js'
import type { Leases } from './leases.js'

const CONNECTION = 'conn_host'

/** `installed` are the providers of the installation. */
export function withLentKeys(
  catalog: Catalog,
  installed: readonly CatalogProvider[],
  leases: Pick<Leases, 'known'>,
  env: Effects['env'],
): Catalog {
  const lent = new Map(installed.filter((provider) => isLent(provider, env)).map((provider) => [provider.id, provider]))
  if (lent.size === 0) return catalog
  const providers = catalog.providers.map((provider) => {
    const own = lent.get(provider.id)
    if (own === undefined || !isLent(provider, env)) return provider
    const known = leases.known(provider.id)
    const stored = { connectionId: CONNECTION, type: known?.type ?? ('api' as const), secret: known?.secret ?? '', accountId: undefined }
    return { ...provider, stored: { ...stored, endpoint: own.baseURL, isLent: true as const } }
  })
  return { ...catalog, providers }
}

function isLent(provider: CatalogProvider, env: Effects['env']): boolean {
  const { source, auth, stored, contribution } = provider
  const isCalled = contribution !== undefined && contribution.administration === undefined
  return source === 'config' && auth !== 'none' && isCalled && stored === undefined && keyOf(provider, env) === undefined
}

/** Each call is made with what is lent then; where the provider refuses that before it said anything, once more with another. */
export function lentAdapter(
  provider: CatalogProvider,
  leases: Pick<Leases, 'take'>,
  adapterOf: (provider: CatalogProvider) => ProviderAdapter,
): ProviderAdapter {
  const { id } = provider
  return {
    async generate(request, push, signal) {
      let isSilent = true
      const heard: typeof push = (part) => {
        isSilent = false
        push(part)
      }
      const first = await unlessAborted(leases.take(id), signal, id)
      try {
        await adapterOf(withLent(provider, first)).generate(request, heard, signal)
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.unauthorized || !isSilent || signal.aborted) throw error
        const other = await unlessAborted(leases.take(id, first.secret), signal, id)
        if (other.secret === first.secret) throw error
        await adapterOf(withLent(provider, other)).generate(request, push, signal)
      }
    },
  }
}

function withLent(provider: CatalogProvider, { type, secret, baseURL }: LentCredential): CatalogProvider {
  const { stored } = provider
  if (stored === undefined) return provider
  const called = { ...provider, stored: { ...stored, type, secret } }
  return baseURL === undefined ? called : { ...called, baseURL, stored: { ...called.stored, endpoint: baseURL } }
}
