/** What a package asks for, in the words of people, for whoever is asked to approve it (service.md, Authentication 11). Pure. */
import type { AgentTarget, HostCapability } from './plugin.js'

const CAPABILITIES: Readonly<Record<HostCapability, string>> = {
  'config-read': 'read the effective configuration',
  'config-write': 'change its own settings',
  'workspace-read': 'read and list every file of the workspace',
  'workspace-write': 'write files of the workspace',
  'event-publish': 'publish events in its namespaces',
  network: 'use the network',
  'process-spawn': 'have the host start programs',
  'task-spawn': 'have the host start background tasks',
  'secret-use': 'have the host use secrets without seeing them',
  'secret-read': 'read secrets',
  'prompt-read': 'read prompts',
  'message-read': 'read messages of conversations',
  'response-transform': 'change answers of the model',
  'provider-access': 'call model providers',
  'policy-invoke': 'ask the host to decide permissions',
}

type Asked = Pick<AgentTarget, 'network' | 'secrets'> & Partial<Pick<AgentTarget, 'eventNamespaces'>>

/** With the hosts, the secrets and the namespaces that the manifest names. */
export function capabilityWords(capability: HostCapability, { network, secrets = [], eventNamespaces = [] }: Asked): string {
  const words = CAPABILITIES[capability]
  if (capability === 'network') return `${words}: ${network === undefined ? 'any public host' : `only ${network.hosts.join(', ')}`}`
  if (capability === 'event-publish') return `${words}: ${eventNamespaces.join(', ') || 'none, for its manifest names none'}`
  if (capability !== 'secret-use' && capability !== 'secret-read') return words
  const named = secrets.map(({ alias, purpose, hosts }) => {
    const sent = capability === 'secret-use' && hosts.length > 0 ? `; sent to ${hosts.join(', ')}` : ''
    return `"${alias}" (${purpose}${sent})`
  })
  return `${words}: ${named.length === 0 ? 'none, for its manifest declares none' : named.join(', ')}`
}
