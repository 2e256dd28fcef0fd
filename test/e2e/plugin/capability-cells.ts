/** What is asked of the host for each capability, and the ways in which a plugin comes to ask: the lists that the table of capabilities is made of. */
import { HOST_METHODS, type HostMethod, type HostValue } from '../../../src/protocol/plugin/host-methods.js'
import { type HostCapability, PluginScope } from '../../../src/protocol/plugin/plugin.js'
import { type Ask, ID } from './host.js'

/** One request that only succeeds where the capability is usable. A capability without one does not compile. */
function probesOf(url: string): Readonly<Record<HostCapability, Ask>> {
  return {
    'config-read': { method: 'config.get', key: 'model' },
    'config-write': { method: 'config.set', key: 'tone', value: 'calm' },
    'workspace-read': { method: 'workspace.read', path: 'README.md' },
    'workspace-write': { method: 'workspace.write', path: 'written.txt', contents: [104, 105] },
    'event-publish': { method: 'event.publish', namespace: ID, name: 'said', payload: { word: 'hi' } },
    network: { method: 'network.request', operation: 'fetch', input: { url } },
    'process-spawn': { method: 'process.spawn', operation: 'spawn', input: { command: ['true'] } },
    'task-spawn': { method: 'task.spawn', operation: 'spawn', input: { agent: 'explore', description: 'look', prompt: 'look around' } },
    'secret-use': { method: 'secret.use', operation: 'sign', input: { alias: 'token', text: 'x' } },
    'secret-read': { method: 'secret.read', operation: 'get', input: { alias: 'token' } },
    'prompt-read': { method: 'prompt.read', operation: 'current' },
    'message-read': { method: 'message.read', operation: 'list', input: {} },
    'response-transform': { method: 'response.transform', operation: 'read' },
    'provider-access': { method: 'provider.call', operation: 'complete', input: { messages: [{ role: 'user', text: 'why?' }] } },
    'policy-invoke': { method: 'policy.call', operation: 'evaluate', input: { permission: 'bash', patterns: ['ls'] } },
  }
}

const sleeping: Ask = { method: 'process.spawn', operation: 'spawn', input: { command: ['sleep', '60'] } }
const delegating: Ask = {
  method: 'task.spawn',
  operation: 'spawn',
  input: { agent: 'explore', description: 'look', prompt: 'look around' },
}
const opaqueId = '$.opaqueId'
/** What else of the host succeeds only where its capability is usable, with what has to come before it. */
const FURTHER: Readonly<Record<string, readonly Ask[]>> = {
  'host.workspace.list': [{ method: 'workspace.list', path: '.' }],
  'host.process.cancel': [sleeping, { method: 'process.cancel', opaqueId }],
  'host.task.cancel': [delegating, { method: 'task.cancel', opaqueId }],
}

/** Every method with requests that all succeed where its capability is usable; one without any has no proof. */
export function successesOf(url: string): readonly { readonly method: HostMethod; readonly asks: readonly Ask[] }[] {
  const probes = Object.values(probesOf(url))
  return HOST_METHODS.map((method) => ({
    method,
    asks: FURTHER[method.method] ?? probes.filter((ask) => `host.${ask.method}` === method.method),
  }))
}

const VALUES: Readonly<Record<HostValue, unknown>> = { text: 'x', any: {}, bytes: [104], texts: ['x'], nothing: null }

/** A request of every method, with params that are well formed: what refuses it is no malformed request. */
export const EVERY_METHOD: readonly { readonly method: HostMethod; readonly ask: Ask }[] = HOST_METHODS.map((method) => ({
  method,
  ask: {
    ...Object.fromEntries(Object.entries(method.params).map(([name, value]) => [name, VALUES[value]])),
    method: method.method.slice('host.'.length),
  },
}))

interface Column {
  /** As the table of docs/plugin-host.md heads it. */
  readonly name: string
  readonly form: 'package' | 'entry'
  readonly lua: boolean
  readonly native?: true
  readonly scope: PluginScope
  /** Why a capability is not usable although it is declared and trusted: words of what is answered. */
  readonly refused: Partial<Readonly<Record<HostCapability, string>>>
}

const NO_FILES = 'no broker here for'
const NO_SECRETS = 'declares no secret'

export const COLUMNS: readonly Column[] = [
  { name: 'Lua', form: 'package', lua: true, scope: 'workspace', refused: {} },
  { name: 'program', form: 'package', lua: false, scope: 'workspace', refused: {} },
  { name: 'native', form: 'package', lua: false, native: true, scope: 'workspace', refused: {} },
  {
    name: 'entry of the configuration',
    form: 'entry',
    lua: false,
    scope: 'workspace',
    refused: { 'secret-use': NO_SECRETS, 'secret-read': NO_SECRETS },
  },
  ...PluginScope.options
    .filter((scope) => scope !== 'workspace')
    .map(
      (scope): Column => ({
        name: `scope \`${scope}\``,
        form: 'package',
        lua: false,
        scope,
        refused: { 'workspace-read': NO_FILES, 'workspace-write': NO_FILES },
      }),
    ),
]
