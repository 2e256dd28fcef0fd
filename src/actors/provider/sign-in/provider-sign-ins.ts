/** What the configuration, the credential file and sign-ins have to do with each other. */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { Configs, Providers } from '../../../ports/facades.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import type { CredentialFile } from '../credentials/credential-file.js'
import { connectionsOf, storedConnection, withConnection, withDefault } from '../credentials/document.js'
import type { ProviderAdministration } from '../../../ports/plugin.js'
import type { ProviderAuthMethod } from '../../../protocol/provider/sign-in.js'
import { messageOf } from '../../../protocol/message-of.js'
import { pluginMethods } from './plugin-sign-in.js'
import { createOAuth, type OAuth } from './oauth.js'
import { methodsOf, signInSettings } from './settings.js'
import type { NewCredential } from './attempts.js'
import { createSignIns, type SignInsDeps, type SupervisedSignIns } from './sign-ins.js'
import { createRenewal, type Renewal } from './tokens.js'
import { subscriptionUsage } from './usage.js'

interface RenewalParts {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'sha256' | 'network'>
  readonly file: CredentialFile
  readonly configs: Pick<Configs, 'load'>
  /** The directory of the installation, which alone says how to sign in. */
  readonly installation: string
}

export interface ProviderRenewal {
  readonly oauth: OAuth
  readonly renewal: Renewal
}

export function createProviderRenewal({ effects, file, configs, installation }: RenewalParts): ProviderRenewal {
  const oauth = createOAuth(effects)
  const settings = async (providerId: string) => signInSettings(await configs.load(installation), providerId)
  return { oauth, renewal: createRenewal({ effects, file, oauth, settings }) }
}

interface AdministeredProvider {
  readonly id: string
  readonly administration: ProviderAdministration
}

export interface ProviderSignInParts extends RenewalParts, ProviderRenewal {
  readonly effects: RenewalParts['effects'] & Pick<Effects, 'ids' | 'random'>
  readonly providers: Pick<Providers, 'endpoint' | 'connectable'>
  /** Providers of plugins that sign in in their own way, as a directory has them; absent = there are none. */
  readonly administered?: (directory: string) => Promise<readonly AdministeredProvider[]>
  readonly actors: ActorRegistry
  readonly inspect?: SignInsDeps['inspect']
}

export function createProviderSignIns(parts: ProviderSignInParts): SupervisedSignIns {
  const { effects, file, configs, installation, providers, renewal } = parts
  const settings = async (providerId: string) => signInSettings(await configs.load(installation), providerId)
  const { administered = () => Promise.resolve([]) } = parts
  const methods = async (providerId: string, workspaceId: string | undefined) => {
    const provider = (await providers.connectable()).find(({ id }) => id === providerId)
    const known = await settings(providerId)
    // What the installation knows how to connect is connected so, whoever else brings a provider of that name.
    const ways = provider === undefined ? [] : methodsOf(known, provider)
    if (ways.length > 0) return { methods: ways, settings: known }
    const own = (await administered(workspaceId ?? installation)).find(({ id }) => id === providerId)
    if (own !== undefined) {
      const { administration } = own
      return { methods: await pluginMethods(administration), settings: undefined, administration }
    }
    if (provider === undefined)
      throw new SvcError(
        'resource.not_found',
        `There is no provider "${providerId}" in the configuration of this installation that can be connected.`,
        { providerId },
      )
    return { methods: ways, settings: known }
  }
  return createSignIns({
    ...parts,
    methods,
    address: providers.endpoint,
    async allMethods(directory) {
      const document = await configs.load(installation)
      const all = (await providers.connectable()).map((provider) => {
        const shown = methodsOf(signInSettings(document, provider.id), provider).map((method) => method.shown)
        return [provider.id, shown] as const
      })
      const brought = await Promise.all((await administered(directory)).map((provider) => shownOf(provider, effects.log)))
      return Object.fromEntries([...brought, ...all].filter(([, shown]) => shown.length > 0))
    },
    checkWritable() {
      if (!file.isGiven) return
      throw new SvcError('resource.conflict', 'Credentials come from SVC_AGENT_AUTH_CONTENT, which cannot be changed: nobody can sign in.')
    },
    async checkConnection(providerId, workspaceId, connectionId) {
      const found = connectionsOf(await file.read(), providerId, workspaceId).some((connection) => connection.connectionId === connectionId)
      if (!found)
        throw new SvcError('resource.not_found', `There is no connection "${connectionId}" of provider "${providerId}" in this scope.`)
    },
    async store(credential) {
      const endpoint = credential.endpoint ?? (await providers.endpoint(credential.providerId))
      await store(file, { ...credential, endpoint }, effects.ids.next('conn'))
    },
    usage: (workspaceId) => subscriptionUsage({ effects, file, renewal, settings }, workspaceId),
  })
}

/** None of a plugin that does not say. */
async function shownOf(
  { id, administration }: AdministeredProvider,
  log: Effects['log'],
): Promise<readonly [string, ProviderAuthMethod[]]> {
  try {
    return [id, (await pluginMethods(administration)).map(({ shown }) => shown)]
  } catch (error) {
    log.warn('a provider of a plugin does not say how to sign in', { providerId: id, cause: messageOf(error) })
    return [id, []]
  }
}

/** The first connection of a scope is its default one. */
async function store(file: CredentialFile, added: NewCredential, freshId: string): Promise<void> {
  const { providerId, workspaceId, connectionId, label, credential, endpoint, issuer } = added
  await file.change((document) => {
    const others = connectionsOf(document, providerId, workspaceId)
    const before = connectionId === undefined ? undefined : storedConnection(document, providerId, connectionId)
    if (connectionId !== undefined && before === undefined)
      throw new SvcError('resource.conflict', 'The connection whose credential was to be replaced is gone.')
    if (before === undefined && others.length >= LIMITS.connections.perProvider)
      throw new SvcError('quota.exceeded', `Provider "${providerId}" has ${LIMITS.connections.perProvider} connections; remove one first.`)
    const base = before ?? { providerId, connectionId: freshId, label: freeLabel(label, others), workspaceId }
    const connection = { ...base, credential, endpoint, issuer }
    const after = withConnection(document, connection)
    return [before === undefined && others.length === 0 ? withDefault(after, connection) : after, undefined]
  })
}

/** `Key`, `Key 2`, … */
function freeLabel(label: string, others: readonly { readonly label: string }[]): string {
  const taken = new Set(others.map((other) => other.label))
  let free = label
  for (let number = 2; taken.has(free); number++) free = `${label} ${number}`
  return free
}
