/**
 * The catalog of a directory: what its configuration and its plugins say, what the source of the catalog offers, and whose keys are stored.
 *
 * I1 The source is asked when a vendor of it can be used, or when the installation says so.
 * I2 A problem is told once, however many directories have it.
 */
import { createLru } from '../../kernel/lru.js'
import type { Effects } from '../../ports/effects.js'
import type { Configs } from '../../ports/facades.js'
import type { ProviderContribution } from '../../ports/plugin.js'
import type { ConfigDocument } from '../../protocol/resource/config.js'
import { type Catalog, type CatalogProvider, missingAdapter, NOTHING_INSTALLED, readCatalog } from './catalog/catalog.js'
import { addressVariable, knownVendors, LOCAL_PROVIDERS } from './catalog/known-vendors.js'
import type { Offered } from './catalog/offered.js'
import type { CatalogSource } from './catalog/source.js'
import type { CredentialFile } from './credentials/credential-file.js'
import { type CredentialDocument, EMPTY } from './credentials/document.js'
import { type Installed, keyOf, withStoredKeys } from './keys.js'
import type { Leases } from './leases/leases.js'
import { withLentKeys } from './leases/lent-keys.js'
import { signInSettings } from './sign-in/settings.js'

export interface CatalogsDeps {
  readonly effects: Pick<Effects, 'env' | 'log'>
  readonly configs: Pick<Configs, 'load'>
  /** What plugins contribute in a directory, or for a session of it: the same list for as long as nothing changes. */
  readonly contributions: (
    directory: string,
    sessionId?: string,
  ) => readonly ProviderContribution[] | Promise<readonly ProviderContribution[]>
  /** The id of the registered workspace that contains a directory; absent = there are none. */
  readonly workspaceOf?: (directory: string) => Promise<string | undefined>
  /** The catalog of models; absent = there is none. */
  readonly source?: CatalogSource
  /** Stored credentials; absent = there are none. */
  readonly credentials?: Pick<CredentialFile, 'read'>
  /** The directory of the installation, whose configuration says where stored keys go. */
  readonly installation?: string
  /** What the host lends to a worker; absent = nothing. */
  readonly leases?: Leases
}

export interface Catalogs {
  /** What is configured, whatever keys are stored. */
  configured(directory: string): Promise<Catalog>
  read(directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog>
  /** What is known now; where the source has something new, the next look finds it. */
  load(directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog>
  /** As `load`, but what has only the snapshot waits a moment for the source. */
  loadNewest(directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog>
  /** Where stored keys go, whatever a directory says. */
  installed(): Promise<Installed>
  /** Whose connections count, the nearest first (choice 33). */
  workspacesOf(directory: string, workspaceId: string | undefined): Promise<readonly string[]>
  credentials(): Promise<CredentialDocument>
  isConnected(provider: CatalogProvider): boolean
  tellOnce(problem: string): void
}

/** Problems in the log; the same provider is in the configuration of every directory. */
const TOLD = 256
/** Catalogs that are kept of one document. */
const READS = 4

export function createCatalogs({ effects, configs, contributions, source = NO_SOURCE, ...stores }: CatalogsDeps): Catalogs {
  const { credentials = NO_CREDENTIALS, installation = '' } = stores
  const told = createLru<string, true>(TOLD)
  const catalogOf = createCatalogCache(effects.env, ({ providers }, from) => {
    for (const provider of providers) {
      if (provider.source !== 'offered' && provider.configuredKey !== undefined && told.get(provider.id) === undefined) {
        effects.log.warn('a key stands in a configuration file; {env:NAME} keeps it out', { providerId: provider.id })
        told.set(provider.id, true)
      }
      if (provider.contribution !== undefined || provider.source === 'offered') continue
      const problem = missingAdapter(provider, from)
      if (told.get(problem) === undefined) effects.log.warn('a provider has no adapter', { providerId: provider.id, problem })
      told.set(problem, true)
    }
  })
  const isConnected = (provider: CatalogProvider) =>
    provider.contribution !== undefined && (provider.auth !== 'required' || keyOf(provider, effects.env) !== undefined)
  const isVendorInUse = ({ providers }: Catalog) =>
    providers.some((provider) => provider.source === 'offered' && !provider.isLocal && isConnected(provider))

  const readConfigured = async (directory: string, sessionId?: string): Promise<Catalog> => {
    const from = await contributions(directory, sessionId)
    return catalogOf(await configs.load(directory), from, await source.known())
  }
  const installed = async (): Promise<Installed> => {
    const { providers } = await readConfigured(installation)
    const document = await configs.load(installation)
    return {
      endpoint: (providerId) => providers.find(({ id }) => id === providerId)?.baseURL,
      subscription: (providerId) => signInSettings(document, providerId),
    }
  }
  const workspacesOf = async (directory: string, workspaceId: string | undefined): Promise<readonly string[]> => {
    const managed = await stores.workspaceOf?.(directory)
    return [...new Set([workspaceId, managed, directory].filter((id) => id !== undefined))]
  }
  const read = async (directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog> => {
    const document = await credentials.read()
    const configured = await readConfigured(directory, sessionId)
    const catalog =
      document.connections.size === 0
        ? configured
        : withStoredKeys(configured, document, { workspaceIds: await workspacesOf(directory, workspaceId), ...(await installed()) })
    const { leases } = stores
    return leases === undefined ? catalog : withLentKeys(catalog, (await readConfigured(installation)).providers, leases, effects.env)
  }
  const load = async (directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog> => {
    const catalog = await read(directory, workspaceId, sessionId)
    void source.renew(isVendorInUse(catalog))
    return catalog
  }
  const loadNewest = async (directory: string, workspaceId?: string, sessionId?: string): Promise<Catalog> => {
    await source.renew(isVendorInUse(await read(directory, workspaceId, sessionId)))
    return read(directory, workspaceId, sessionId)
  }

  const tellOnce = (problem: string): void => {
    if (told.get(problem) === undefined) effects.log.warn(problem)
    told.set(problem, true)
  }

  return {
    configured: readConfigured,
    read,
    load,
    loadNewest,
    installed,
    workspacesOf,
    credentials: () => credentials.read(),
    isConnected,
    tellOnce,
  }
}

const NO_CREDENTIALS: Pick<CredentialFile, 'read'> = { read: () => Promise.resolve(EMPTY) }
const NO_SOURCE: CatalogSource = { known: () => Promise.resolve(NOTHING_INSTALLED.offered), renew: () => Promise.resolve() }

/** Reads a document once for as long as it, the contributions and what is offered stay the same objects; sessions may have others than their directory. */
function createCatalogCache(
  env: Effects['env'],
  onRead: (catalog: Catalog, from: readonly ProviderContribution[]) => void,
): (document: ConfigDocument, from: readonly ProviderContribution[], offered: Offered) => Catalog {
  interface Read {
    readonly from: readonly ProviderContribution[]
    readonly offered: Offered
    readonly catalog: Catalog
  }
  const catalogs = new WeakMap<ConfigDocument, readonly Read[]>()
  const address = (id: string) => env[addressVariable(id)]?.trim() || undefined
  return (document, from, offered) => {
    const reads = catalogs.get(document) ?? []
    const known = reads.find((read) => read.offered === offered && areSame(read.from, from))
    if (known !== undefined) return known.catalog
    const catalog = readCatalog(document, from, { offered: withLocal(offered), address, env })
    catalogs.set(document, [{ from, offered, catalog }, ...reads].slice(0, READS))
    onRead(catalog, from)
    return catalog
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index])
}

/** Vendors svc knows, best known first, then the others as the catalog has them, then the model servers of this machine. */
function withLocal(offered: Offered): Offered {
  if (offered.size === 0) return offered
  const known = [...knownVendors().keys()].flatMap((id) => offered.get(id) ?? [])
  return new Map([...known, ...offered.values(), ...LOCAL_PROVIDERS.values()].map((provider) => [provider.id, provider]))
}
