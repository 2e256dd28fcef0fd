/** Providers, and whose keys they are called with. */
import type { InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import { createConnections } from '../provider/credentials/connections.js'
import { createCredentialFile } from '../provider/credentials/credential-file.js'
import { createLeases } from '../provider/leases/leases.js'
import { createProviders } from '../provider/providers.js'
import { createProviderRenewal, createProviderSignIns } from '../provider/sign-in/provider-sign-ins.js'
import { containing } from '../workspace/workspace-registry.js'
import { type Deployment, registryOf } from './deployment.js'
import type { PluginParts } from './wire-plugins.js'

export type ProviderParts = ReturnType<typeof wireProviders>

interface ProviderWiring {
  readonly effects: Effects
  readonly actors: ActorRegistry
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly deployment?: Deployment | undefined
}

export function wireProviders(
  { effects, actors, inspect, deployment }: ProviderWiring,
  { configs, plugins: serving, source }: PluginParts,
) {
  const credentials = createCredentialFile(effects)
  const registered = registryOf(effects, deployment)
  const signingIn = { effects, file: credentials, configs, installation: effects.paths.config }
  const tokens = createProviderRenewal(signingIn)
  // The installation is no workspace: nothing is looked for in it, and nothing starts for it.
  const contributions = async (directory: string, sessionId?: string) =>
    (directory === effects.paths.config ? serving.current(directory) : await seen(directory, sessionId)).providers
  const seen = (directory: string, sessionId: string | undefined) =>
    sessionId === undefined ? serving.ready(directory) : serving.ready(directory, sessionId, () => false)
  const providers = createProviders({
    effects,
    configs,
    contributions,
    adapters: () => serving.adapters(),
    workspaceOf: async (directory) => containing(await registered.all().catch(() => []), directory),
    source,
    credentials,
    installation: effects.paths.config,
    renewal: tokens.renewal,
    ...(deployment?.models !== undefined && { leases: createLeases({ effects, broker: deployment.models, actors, inspect }) }),
  })
  const administered = async (directory: string) =>
    (await contributions(directory)).flatMap(({ builtin, administration }) =>
      builtin === undefined || administration === undefined ? [] : [{ id: builtin.id, administration }],
    )
  const signIns = createProviderSignIns({ ...signingIn, ...tokens, providers, administered, actors, inspect })
  const connections = createConnections({ effects, file: credentials, endpointOf: providers.endpoint })
  return { registered, providers, signIns, connections }
}
