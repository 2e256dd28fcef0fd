/**
 * What the host does for plugins on request: every `host.*` method (plugin-protocol §2.5, §4.8 steps 3 to 10).
 *
 * I1 The lease is asked when the request is served, and the checks come in the order of §4.8.
 * I2 Nothing is done for a plugin whose lease is revoked; what has begun gets the signal of the request.
 */
import * as z from 'zod'
import { asDeclared } from '../../../protocol/text/leniency.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { HOST_METHOD_OF, type HostMethod } from '../../../protocol/plugin/host-methods.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { Effects } from '../../../ports/effects.js'
import { publishedEventType } from './events/event-publisher.js'
import { encodedBytes } from '../link/frame-text.js'
import { isEmptyTable } from '../link/initialize.js'
import type { InstancePlace, ReverseRequest } from '../generation/instance.js'
import type { ProtectedFiles } from '../../../ports/plugin.js'
import { createRate } from '../../../kernel/rate.js'
import type { InstanceLease } from './leases.js'
import { createWorkspaceAccess } from './workspace-access.js'

/** What of the host every plugin instance is served with. */
export interface BrokerHost {
  /** The configuration plugins may read, without secrets; asked once for every instance that may. */
  config(place: InstancePlace): Promise<unknown>
  /** Changes the config of the plugin itself; `issueOf` says what is wrong with a whole config. Nothing is written once `signal` has aborted. */
  setConfig(key: string, value: unknown, issueOf: (config: unknown) => string | undefined, signal: AbortSignal): Promise<void>
  /** Commits an event; rejects when it cannot. */
  publish(type: string, properties: unknown, place: InstancePlace): Promise<void>
  readonly protectedFiles: ProtectedFiles
}

export interface Brokers {
  /** The result of a request; rejects with a `SvcError` whose message is the answer. */
  serve(request: ReverseRequest): Promise<unknown>
  /** One record per request, with ten fields (plugin-protocol §2.6); denials at `info`, as long as they are not too many per second. */
  audit(method: string, outcome: 'allowed' | 'denied'): void
}

export interface BrokersOptions {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'log'>
  readonly host: BrokerHost
  readonly owner: PluginOwner
  readonly lease: InstanceLease
  readonly place: InstancePlace
  readonly eventNamespaces: readonly string[]
  /** Snapshot for `host.config.get`, until the plugin itself changes it. */
  readonly config: unknown
  /** What is wrong with a config of the plugin, by the settings of its manifest. */
  settingsIssue(config: unknown): string | undefined
}

const path = z.looseObject({ path: z.string() })
/** An empty table of a language with one kind of table is an empty list. */
const bytes = z.preprocess(
  (value) => (isEmptyTable(value) ? [] : value),
  z.custom<readonly number[]>(isByteList, 'must be a list of whole numbers from 0 to 255'),
)
const PARAMS = {
  'host.config.get': z.looseObject({ key: z.string() }),
  'host.config.set': z.looseObject({ key: z.string(), value: z.unknown().optional() }),
  'host.workspace.read': path,
  'host.workspace.list': path,
  'host.workspace.write': path.extend({ contents: bytes }),
  'host.event.publish': z.looseObject({ namespace: z.string(), name: z.string(), payload: z.unknown().optional() }),
  call: z.looseObject({ operation: z.string(), input: z.unknown().optional() }),
  cancel: z.looseObject({ opaqueId: z.string() }),
}

export function createBrokers({ effects, host, owner, lease, place, eventNamespaces, config, settingsIssue }: BrokersOptions): Brokers {
  const { workspace } = place
  let known = config
  const denials = createRate(effects.clock)
  const files = workspace === undefined ? undefined : createWorkspaceAccess(workspace, effects.files, host.protectedFiles)

  const check = (method: string, { capability, kind }: HostMethod): void => {
    const isInstalled = kind === 'service' ? files !== undefined || !capability.startsWith('workspace-') : lease.brokers.has(capability)
    const isGranted = lease.capabilities.has(capability) && !lease.revoked
    if (isInstalled && isGranted) return
    const name = pascalCase(capability)
    if (!isGranted)
      throw new SvcError(
        'request.forbidden',
        `${method} is not available: the capability ${name} is not granted${lease.revoked ? ' any more' : ''} ("${capability}" in a manifest)`,
      )
    throw new SvcError(
      'feature.not_implemented',
      `${method} is not available: nothing on this server provides ${name} here ("${capability}" in a manifest)`,
    )
  }

  const service = async ({ method, params, signal }: ReverseRequest, granted: () => void): Promise<unknown> => {
    switch (method) {
      case 'host.config.get': {
        const { key } = parse(PARAMS[method], params)
        granted()
        return lookUp(known, key)
      }
      case 'host.config.set': {
        const { key, value } = parse(PARAMS[method], params)
        granted()
        await host.setConfig(key, value ?? null, settingsIssue, signal) // I2: it may wait for its turn
        if (lease.capabilities.has('config-read')) known = await host.config(place)
        return {}
      }
      case 'host.workspace.read': {
        const { path: name } = parse(PARAMS[method], params)
        granted()
        return Array.from((await files?.read(name)) ?? [])
      }
      case 'host.workspace.list': {
        const { path: name } = parse(PARAMS[method], params)
        granted()
        return files?.list(name)
      }
      case 'host.workspace.write': {
        const { path: name, contents } = parse(PARAMS[method], params)
        granted()
        await files?.write(name, Uint8Array.from(contents), signal)
        return {}
      }
      case 'host.event.publish': {
        const { namespace, name, payload } = parse(PARAMS[method], params)
        granted()
        await host.publish(publishedEventType(namespace, name, eventNamespaces), payload ?? null, place)
        return {}
      }
      default:
        return undefined
    }
  }

  const broker = async ({ params, waits }: ReverseRequest, { capability, kind }: HostMethod, granted: () => void): Promise<unknown> => {
    if (kind === 'cancel') {
      const opaqueId = short('opaqueId', parse(PARAMS.cancel, params).opaqueId)
      granted()
      await lease.brokered(capability)?.cancel(opaqueId, { waits })
      return {}
    }
    const size = encodedBytes(params)
    if (size > LIMITS.plugins.brokerInput)
      throw new SvcError('request.unprocessable', `broker input exceeds ${LIMITS.plugins.brokerInput} bytes: it has ${size}`)
    const parsed = parse(PARAMS.call, params)
    const operation = short('operation', parsed.operation)
    granted()
    const output = await lease.brokered(capability)?.call(operation, parsed.input ?? null, { waits })
    const result = { output: output ?? null }
    const answered = encodedBytes(result)
    if (answered > LIMITS.plugins.brokerOutput)
      throw new SvcError('request.unprocessable', `broker output exceeds ${LIMITS.plugins.brokerOutput} bytes: it has ${answered}`)
    return result
  }

  return {
    async serve(request) {
      const method = HOST_METHOD_OF.get(request.method)
      if (method === undefined) throw new SvcError('request.unprocessable', `unknown method "${request.method.slice(0, 128)}"`)
      const granted = () => check(request.method, method)
      return method.kind === 'service' ? service(request, granted) : broker(request, method, granted)
    },
    audit(method, outcome) {
      const { pluginId, instanceId, packageRevision, registryGeneration, scope, workspaceId, scopeId } = owner
      const capability = HOST_METHOD_OF.get(method)?.capability ?? 'unknown'
      const ids = { pluginId, instanceId, packageRevision, registryGeneration, scope, workspaceId, scopeId }
      const isShown = outcome === 'denied' && denials.count() <= LIMITS.plugins.logLinesPerSecond
      effects.log[isShown ? 'info' : 'debug']('plugin request', { ...ids, capability, method: method.slice(0, 128), outcome })
    },
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(asDeclared(schema, params))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new SvcError(
    'request.unprocessable',
    `the params are not valid: ${issue?.path.join('.') || 'params'}: ${issue?.message ?? 'malformed'}`,
  )
}

function short(what: string, text: string): string {
  const size = Buffer.byteLength(text)
  if (size === 0 || size > LIMITS.plugins.operationBytes)
    throw new SvcError('request.unprocessable', `${what} must have 1 to ${LIMITS.plugins.operationBytes} bytes; it has ${size}`)
  return text
}

/** A value by its dotted key: `''` is the whole document, a missing step is null, lists have no steps. */
function lookUp(document: unknown, key: string): unknown {
  let value = document
  for (const step of key === '' ? [] : key.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) return null
    value = Reflect.get(value, step)
  }
  return value ?? null
}

function pascalCase(capability: string): string {
  return capability
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function isByteList(value: unknown): boolean {
  return Array.isArray(value) && value.every((byte) => typeof byte === 'number' && Number.isInteger(byte) && byte >= 0 && byte <= 255)
}
