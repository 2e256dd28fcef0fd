/** What an application and its host say to each other (http-contract §7.3). All records are closed. */
import * as z from 'zod'
import { Binding, Capabilities, MachineHandle, WorkerLaunchDescriptor } from './machines.js'

export const EmptyRequest = z.strictObject({})
export const LifecycleRequest = z.strictObject({ expected_handle: MachineHandle })

export const HostApiError = z.strictObject({ code: z.enum(['denied', 'invalid', 'conflict', 'expired', 'unready', 'unavailable']) })
export type HostErrorCode = z.infer<typeof HostApiError>['code']

/** That the worker behind a handle was asked who it is, and was right. */
export const Verification = z.strictObject({
  handle: MachineHandle,
  descriptor: WorkerLaunchDescriptor,
  revision: z.int(),
  at: z.int(),
  expires_at: z.int(),
})
export type Verification = z.infer<typeof Verification>

export const HostStatus = z.strictObject({ binding: Binding, verification: Verification.nullable().optional() })
export type HostStatus = z.infer<typeof HostStatus>

export const ConnectionGrant = z.strictObject({
  version: z.literal(1),
  baseUrl: z.url(),
  bearer: z.string(),
  expiresAt: z.int(),
  handle: MachineHandle,
  root: z.string(),
  runtimeId: z.string(),
  workerGeneration: z.int(),
  capabilities: Capabilities,
})
export type ConnectionGrant = z.infer<typeof ConnectionGrant>

/** The statuses of the contract; there is none for a missing credential besides that of a wrong one. */
export const STATUS: Readonly<Record<HostErrorCode, number>> = {
  invalid: 400,
  denied: 403,
  conflict: 409,
  expired: 409,
  unready: 503,
  unavailable: 503,
}
