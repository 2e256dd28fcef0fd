/**
 * Every operation of every broker: `params.operation`, `params.input` and `result.output` of the reverse methods of plugin-protocol §4.8.
 *
 * This is the one description: the host checks inputs by it, docs/plugins.md is written from it, and the kit has its types from it.
 *
 * To add a broker: describe its operations in `operations/<capability>.ts`, name them here, write `src/actors/plugin/brokers/<capability>.broker.ts`
 * with `defineBroker` (or a folder, where it is more than a file), and list that in `src/actors/plugin/brokers/installed.ts`. What is named here is
 * granted in every scope, so it has to be served everywhere. What stays open between calls goes into a table of the lease, which ends it with
 * the generation; what takes time heeds the signal of the call.
 */
import type * as z from 'zod'
import type { HostCapability } from './plugin.js'
import { networkOperations } from './operations/network.js'
import { secretReadOperations, secretUseOperations } from './operations/secrets.js'
import type { BrokerOperations } from './operations/operation.js'

export const BROKER_OPERATIONS = {
  network: networkOperations,
  'secret-use': secretUseOperations,
  'secret-read': secretReadOperations,
} as const satisfies Partial<Record<HostCapability, BrokerOperations>>

export type BrokerCapability = keyof typeof BROKER_OPERATIONS

/** Capabilities that this program has a broker for. */
export const BROKERED: ReadonlySet<HostCapability> = new Set(Object.keys(BROKER_OPERATIONS) as BrokerCapability[])

type Operations<Capability extends BrokerCapability> = (typeof BROKER_OPERATIONS)[Capability]

export type OperationName<Capability extends BrokerCapability> = keyof Operations<Capability> & string

/** As it is handed to whoever does it: checked, with its defaults. */
export type OperationInput<
  Capability extends BrokerCapability,
  Name extends OperationName<Capability>,
> = Operations<Capability>[Name] extends { readonly input: infer Input extends z.ZodType } ? z.output<Input> : never

export type OperationOutput<
  Capability extends BrokerCapability,
  Name extends OperationName<Capability>,
> = Operations<Capability>[Name] extends { readonly output: infer Output extends z.ZodType } ? z.output<Output> : never
