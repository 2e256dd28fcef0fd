/** What does something for plugins under one capability, and what it is given to do it with (plugin-protocol §2.5). */
import type * as z from 'zod'
import { SvcError } from '../../../protocol/errors.js'
import {
  BROKER_OPERATIONS,
  type BrokerCapability,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from '../../../protocol/plugin/broker-operations.js'
import type { BrokerOperations } from '../../../protocol/plugin/operations/operation.js'
import type { HostCapability, PluginDeclared } from '../../../protocol/plugin/plugin.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import { asDeclared } from '../../../protocol/text/leniency.js'
import type { InstancePlace } from '../generation/instance.js'
import type { HandleKind } from './handles.js'
import type { QuotaUse } from './quotas.js'
import type { ServedSessions } from './served-sessions.js'

/** Serves one capability of every plugin; installing it grants the capability. */
export interface Broker {
  /** Called once for each incarnation of a plugin, when it first asks. */
  grant(lease: BrokerLease): GrantedBroker
  /** What of its own quotas a package has used; for the inspector: cheap, asks nobody. */
  used?(pluginId: string): readonly QuotaUse[]
}

export interface GrantedBroker {
  call(operation: string, input: unknown, call: BrokerCall): Promise<unknown>
  /** Ends what an earlier call opened; absent = there is nothing to cancel. */
  cancel?(opaqueId: string, call: BrokerCall): Promise<void>
}

export interface BrokerCall {
  /** Aborted when the lease is revoked. */
  readonly signal: AbortSignal
  /** Lets the next request of the plugin begin before this one is answered. */
  waits(): void
}

/** Who holds a lease. */
export interface LeaseSubject {
  readonly owner: PluginOwner
  readonly place: InstancePlace
  /** What the manifest says beside the capabilities. */
  readonly declared: PluginDeclared
  /** Everything that is granted, of which the lease is a part. */
  readonly capabilities: ReadonlySet<HostCapability>
  /** Hosts of this machine and its networks that the installation lets the plugin reach. */
  readonly listedHosts: readonly string[]
  /** Sessions it serves; absent = it serves none. */
  readonly served?: ServedSessions
}

/** One capability of one incarnation of a plugin. */
export interface BrokerLease extends LeaseSubject {
  readonly served: ServedSessions
  /** Aborted when the lease is revoked. */
  readonly signal: AbortSignal
  /** A table of what stays open under this lease; `end` is called once for each, when it is closed or the lease is revoked. */
  table<Resource>(kind: HandleKind, end: (resource: Resource) => Promise<void> | void): OpenTable<Resource>
  /** Bytes that went through, for the inspector. */
  count(bytes: number): void
}

/** What stays open between calls, by ids that mean something to this incarnation alone (`handles.ts`). */
export interface OpenTable<Resource> {
  /** Throws `quota.exceeded` when too much is open, and `plugin.generation_closed` after the lease was revoked; the resource is ended then. */
  add(resource: Resource): string
  /** Throws `resource.not_found`. */
  get(opaqueId: string): Resource
  /** Ends it; false when nothing of this id is open. */
  close(opaqueId: string): Promise<boolean>
}

type Serving<Capability extends BrokerCapability> = {
  readonly [Name in OperationName<Capability>]: (
    input: OperationInput<Capability, Name>,
    call: Pick<BrokerCall, 'signal'>,
  ) => Promise<OperationOutput<Capability, Name>> | OperationOutput<Capability, Name>
}

interface Granted<Capability extends BrokerCapability> {
  readonly operations: Serving<Capability>
  cancel?(opaqueId: string): Promise<void>
}

/** A broker whose inputs are checked by the description of its operations, so that it sees only what they allow. */
export function defineBroker<Capability extends BrokerCapability>(
  capability: Capability,
  grant: (lease: BrokerLease) => Granted<Capability>,
): Broker {
  const described: BrokerOperations = BROKER_OPERATIONS[capability]
  return {
    grant(lease) {
      const { operations, cancel } = grant(lease)
      const serving = operations as Readonly<Record<string, (input: unknown, call: BrokerCall) => unknown>>
      return {
        async call(name, input, call) {
          const { waits, checked } = checkedCall(capability, name, input)
          const serve = Object.hasOwn(serving, name) ? serving[name] : undefined
          if (serve === undefined) throw unknownOperation(capability, name, Object.keys(described))
          if (waits) call.waits()
          return serve(checked, call)
        },
        ...(cancel === undefined ? {} : { cancel: (opaqueId: string) => cancel(opaqueId) }),
      }
    },
  }
}

/** By the description of the operations alone. Throws `request.unprocessable` for an operation that is none, and for an input that is not valid. */
export function checkedCall(
  capability: BrokerCapability,
  name: string,
  input: unknown,
): { readonly waits: boolean; readonly checked: unknown } {
  const described: BrokerOperations = BROKER_OPERATIONS[capability]
  const operation = Object.hasOwn(described, name) ? described[name] : undefined
  if (operation === undefined) throw unknownOperation(capability, name, Object.keys(described))
  return { waits: operation.waits === true, checked: checkedInput(operation.input, input) }
}

function checkedInput(schema: z.ZodType, input: unknown): unknown {
  // A language with one kind of table says `{}`, and one without an input says null: both mean that there is none.
  const parsed = schema.safeParse(asDeclared(schema, input ?? {}))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.map(String).join('.')
  throw new SvcError(
    'request.unprocessable',
    `the input is not valid: ${where === undefined || where === '' ? 'it' : where}: ${issue?.message ?? 'malformed'}`,
  )
}

function unknownOperation(capability: HostCapability, name: string, known: readonly string[]): SvcError {
  return new SvcError('request.unprocessable', `${capability} has no operation "${name.slice(0, 64)}"; it has ${known.join(', ')}`)
}
