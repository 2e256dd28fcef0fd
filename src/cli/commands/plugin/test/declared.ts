/** What svc refuses by the manifest and by the description of its operations alone, in a test as well: what passes its checks is not refused for it afterwards. Pure. */
import { checkedCall } from '../../../../actors/plugin/brokers/broker.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { BROKER_OPERATIONS, type BrokerCapability } from '../../../../protocol/plugin/broker-operations.js'
import { HOST_METHOD_OF } from '../../../../protocol/plugin/host-methods.js'
import { isNamedHost } from '../../../../protocol/plugin/host-pattern.js'
import type { AgentTarget, HostCapability } from '../../../../protocol/plugin/plugin.js'
import { isRecord } from '../../../../protocol/text/json.js'

/** Why the host does not answer; undefined where it may. */
export function undeclared(target: AgentTarget, method: string, params: unknown): string | undefined {
  const asked = HOST_METHOD_OF.get(method)
  if (asked === undefined) return undefined
  const { capability, kind } = asked
  if (!target.capabilities.includes(capability)) return notAsked(method, capability)
  const malformed = kind === 'broker' && isBrokered(capability) ? inputProblem(capability, params) : undefined
  if (malformed !== undefined) return malformed
  const input = isRecord(params) && isRecord(params['input']) ? params['input'] : {}
  const to = method === 'host.network.request' ? addressOf(input['url']) : undefined
  const hosts = target.network?.hosts
  if (to !== undefined && hosts !== undefined && !isNamedHost(to, hosts))
    return `${to.host} is not one of the hosts that the manifest names: ${hosts.join(', ')}`
  const { credential } = input
  return isRecord(credential) && typeof credential['alias'] === 'string' ? credentialProblem(target, credential['alias'], to) : undefined
}

function isBrokered(capability: HostCapability): capability is BrokerCapability {
  return Object.hasOwn(BROKER_OPERATIONS, capability)
}

/** As the broker says it. */
function inputProblem(capability: BrokerCapability, params: unknown): string | undefined {
  const { operation, input } = isRecord(params) ? params : {}
  if (typeof operation !== 'string') return 'the params have no "operation" that is a string'
  try {
    checkedCall(capability, operation, input)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function credentialProblem({ capabilities, secrets = [] }: AgentTarget, alias: string, to: URL | undefined): string | undefined {
  if (!capabilities.includes('secret-use')) return notAsked(`the secret "${alias}"`, 'secret-use')
  const declared = secrets.find((secret) => secret.alias === alias)
  if (declared === undefined) return `the manifest declares no secret "${alias}"`
  if (to === undefined || isNamedHost(to, declared.hosts)) return undefined
  return `the manifest does not declare the secret "${alias}" for ${to.host}`
}

function notAsked(what: string, capability: string): string {
  return `${what} is not available: the manifest does not ask for "${capability}" in agent.capabilities`
}

function addressOf(text: unknown): URL | undefined {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
}
