/**
 * What a plugin may ask of its host, and what that is called in each language (plugin-protocol §4.8, §6.3, §11). The one description that the
 * libraries and docs/plugin-host.md are made from, together with the operations of brokers: `npm run kits`.
 */
import type { HostCapability } from './plugin.js'

/** A parameter, or what is answered. */
export type HostValue = 'text' | 'any' | 'bytes' | 'texts' | 'nothing'

export interface HostMethod {
  readonly method: `host.${string}.${string}`
  readonly capability: HostCapability
  /** Function of `svc.host` in Lua; it takes one table of the params and answers the result as it is. */
  readonly lua: string
  /** Path below `host` in the library for Node, and in that for Python. */
  readonly node: string
  /** `service`: params and result of its own. `broker`: an operation and its input, answered with the output. `cancel`: an opaque id. */
  readonly kind: 'service' | 'broker' | 'cancel'
  readonly params: Readonly<Record<string, HostValue>>
  readonly answers: HostValue
  /** One sentence for authors. */
  readonly does: string
}

const BROKER = { operation: 'text', input: 'any' } as const
const broker = (name: string, capability: HostCapability, node: string, does: string): HostMethod => ({
  method: `host.${name.replace('_', '.')}` as HostMethod['method'],
  capability,
  lua: name,
  node,
  kind: 'broker',
  params: BROKER,
  answers: 'any',
  does,
})
const cancel = (name: string, capability: HostCapability, node: string, does: string): HostMethod => ({
  ...broker(name, capability, node, does),
  kind: 'cancel',
  params: { opaqueId: 'text' },
  answers: 'nothing',
})

export const HOST_METHODS: readonly HostMethod[] = [
  {
    method: 'host.config.get',
    capability: 'config-read',
    lua: 'config_get',
    node: 'config.get',
    kind: 'service',
    params: { key: 'text' },
    answers: 'any',
    does: 'Answers a value of the effective configuration by its dotted key, as it was when the plugin started; the empty key is all of it, and null is what is not set.',
  },
  {
    method: 'host.config.set',
    capability: 'config-write',
    lua: 'config_set',
    node: 'config.set',
    kind: 'service',
    params: { key: 'text', value: 'any' },
    answers: 'nothing',
    does: 'Changes a setting of the plugin itself.',
  },
  {
    method: 'host.workspace.read',
    capability: 'workspace-read',
    lua: 'workspace_read',
    node: 'workspace.read',
    kind: 'service',
    params: { path: 'text' },
    answers: 'bytes',
    does: 'Answers the bytes of a file of the workspace.',
  },
  {
    method: 'host.workspace.list',
    capability: 'workspace-read',
    lua: 'workspace_list',
    node: 'workspace.list',
    kind: 'service',
    params: { path: 'text' },
    answers: 'texts',
    does: 'Answers the names in a folder of the workspace, sorted.',
  },
  {
    method: 'host.workspace.write',
    capability: 'workspace-write',
    lua: 'workspace_write',
    node: 'workspace.write',
    kind: 'service',
    params: { path: 'text', contents: 'bytes' },
    answers: 'nothing',
    does: 'Writes a whole file of the workspace; its folder must be there.',
  },
  {
    method: 'host.event.publish',
    capability: 'event-publish',
    lua: 'event_publish',
    node: 'events.publish',
    kind: 'service',
    params: { namespace: 'text', name: 'text', payload: 'any' },
    answers: 'nothing',
    does: 'Publishes the event plugin.<namespace>.<name>, in a namespace of the manifest.',
  },
  broker('network_request', 'network', 'network.call', 'Asks the network.'),
  broker('process_spawn', 'process-spawn', 'process.call', 'Has the host run programs.'),
  cancel('process_cancel', 'process-spawn', 'process.cancel', 'Ends a program.'),
  broker('task_spawn', 'task-spawn', 'tasks.call', 'Has the host give tasks to agents.'),
  cancel('task_cancel', 'task-spawn', 'tasks.cancel', 'Stops a task.'),
  broker('secret_use', 'secret-use', 'secrets.use', 'Has the host use a secret that the plugin does not see.'),
  broker('secret_read', 'secret-read', 'secrets.read', 'Answers a secret.'),
  broker('prompt_read', 'prompt-read', 'prompts.call', 'Reads prompts and instructions.'),
  broker('message_read', 'message-read', 'messages.call', 'Reads messages of conversations.'),
  broker('response_transform', 'response-transform', 'responses.call', 'Changes what a model has answered.'),
  broker('provider_call', 'provider-access', 'providers.call', 'Asks a model.'),
  broker('policy_call', 'policy-invoke', 'policy.call', 'Has the host say what the rules allow, or ask the person.'),
]

export const HOST_METHOD_OF: ReadonlyMap<string, HostMethod> = new Map(HOST_METHODS.map((each) => [each.method, each]))
