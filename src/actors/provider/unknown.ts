/** What is said when a provider or a model is named that there is not, with what may have been meant. */
import { SvcError } from '../../protocol/errors.js'
import type { ResolvedModel } from '../../ports/facades.js'
import type { Catalog, CatalogProvider } from './catalog/catalog.js'
import type { CatalogModel } from './catalog/models.js'

export type Models = ReadonlyMap<string, CatalogModel>
type IsUsable = (provider: CatalogProvider) => boolean

const NAMED_IN_ERRORS = 20

/** Those that can be used are named first. */
export function unknownProvider(id: string, { providers, switchedOff }: Catalog, isUsable: IsUsable): SvcError {
  const known = [...providers.filter(isUsable), ...providers.filter((provider) => !isUsable(provider))].map((provider) => provider.id)
  const what = switchedOff.has(id)
    ? `Provider "${id}" is switched off by enabledProviders or disabledProviders.`
    : `There is no provider "${id}".${hint(similar(id, known))} Known: ${some(known)}.`
  return new SvcError('request.invalid', what, { providerId: id, known })
}

/** Names a model of the same provider that is spelt alike, else one of that name which another provider has. */
export function unknownModel(
  { id: providerId }: CatalogProvider,
  id: string,
  models: Models,
  { providers }: Catalog,
  isUsable: IsUsable,
): SvcError {
  const known = [...models.keys()]
  const elsewhere = providers.filter((provider) => isUsable(provider) && provider.models.has(id)).map((provider) => `${provider.id}/${id}`)
  const meant = similar(id, known) ?? (elsewhere.length === 1 ? elsewhere[0] : undefined)
  return new SvcError('request.invalid', `Provider "${providerId}" has no model "${id}".${hint(meant)} Known: ${some(known)}.`, {
    providerId,
    modelId: id,
    known: known.slice(0, NAMED_IN_ERRORS),
  })
}

/** A variant that the model does not have would change nothing (choice 23). */
export function refuseUnknownVariant({ ref, model }: Pick<ResolvedModel, 'ref' | 'model'>): void {
  const known = Object.keys(model.variants ?? {})
  const { providerId, id: modelId, variant } = ref
  if (variant === undefined || known.includes(variant)) return
  const has = known.length === 0 ? ' It has none.' : `${hint(similar(variant, known))} It has ${some(known)}.`
  throw new SvcError('request.invalid', `The model "${providerId}/${modelId}" has no variant "${variant}".${has}`, {
    providerId,
    modelId,
    variant,
    known: known.slice(0, NAMED_IN_ERRORS),
  })
}

function hint(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean "${meant}"?`
}

/** The one name that differs in case and punctuation only, or that alone contains what was written. */
function similar(written: string, names: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')
  const wanted = plain(written)
  if (wanted.length < 3) return undefined
  const same = names.filter((name) => plain(name) === wanted)
  const alike = same.length > 0 ? same : names.filter((name) => plain(name).includes(wanted))
  return alike.length === 1 ? alike[0] : undefined
}

function some(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length > NAMED_IN_ERRORS ? `, and ${names.length - NAMED_IN_ERRORS} more` : ''
  return names.slice(0, NAMED_IN_ERRORS).join(', ') + more
}
