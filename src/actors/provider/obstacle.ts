/** Whether a provider can be called. */
import type { Effects } from '../../ports/effects.js'
import type { ProviderContribution } from '../../ports/plugin.js'
import { type CatalogProvider, missingAdapter } from './catalog/catalog.js'
import { keyOf, missingKey } from './keys.js'

/** Why a provider cannot be used now, as a sentence; undefined when it can. */
export function obstacle(
  provider: CatalogProvider,
  env: Effects['env'],
  contributions: readonly ProviderContribution[] = [],
): string | undefined {
  const { id, source, baseURL } = provider
  if (provider.contribution === undefined) return missingAdapter(provider, contributions)
  if (source !== 'builtin' && baseURL === undefined) return `Provider "${id}" needs an address: set provider.${id}.options.baseURL.`
  if (provider.auth !== 'required' || keyOf(provider, env) !== undefined) return undefined
  return missingKey(provider)
}
