/** What a plugin may ask of its host, and the capability that each takes (plugin-protocol §4.8). */
import type { HostCapability } from './plugin.js'

export interface ReverseMethod {
  readonly capability: HostCapability
  readonly kind: 'service' | 'call' | 'cancel'
}

export const REVERSE_METHODS: ReadonlyMap<string, ReverseMethod> = new Map([
  ['host.config.get', { capability: 'config-read', kind: 'service' }],
  ['host.config.set', { capability: 'config-write', kind: 'service' }],
  ['host.workspace.read', { capability: 'workspace-read', kind: 'service' }],
  ['host.workspace.list', { capability: 'workspace-read', kind: 'service' }],
  ['host.workspace.write', { capability: 'workspace-write', kind: 'service' }],
  ['host.event.publish', { capability: 'event-publish', kind: 'service' }],
  ['host.network.request', { capability: 'network', kind: 'call' }],
  ['host.process.spawn', { capability: 'process-spawn', kind: 'call' }],
  ['host.process.cancel', { capability: 'process-spawn', kind: 'cancel' }],
  ['host.task.spawn', { capability: 'task-spawn', kind: 'call' }],
  ['host.task.cancel', { capability: 'task-spawn', kind: 'cancel' }],
  ['host.secret.use', { capability: 'secret-use', kind: 'call' }],
  ['host.secret.read', { capability: 'secret-read', kind: 'call' }],
  ['host.prompt.read', { capability: 'prompt-read', kind: 'call' }],
  ['host.message.read', { capability: 'message-read', kind: 'call' }],
  ['host.response.transform', { capability: 'response-transform', kind: 'call' }],
  ['host.provider.call', { capability: 'provider-access', kind: 'call' }],
  ['host.policy.call', { capability: 'policy-invoke', kind: 'call' }],
])
