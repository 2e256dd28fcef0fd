/** Rows as the driver gives them: 64-bit numbers are texts there. */
import * as z from 'zod'
import { Verification } from '../records/host-api.js'
import {
  Allocation,
  Intent,
  MachineStatus,
  ProviderError,
  WorkerLaunchDescriptor,
  WorkspaceKey,
  WorkspaceSpec,
  type Binding,
} from '../records/machines.js'

const bigint = z.coerce.number<string>().pipe(z.int().positive())

export const KeyRow = WorkspaceKey
export const FenceRow = z.strictObject({ fence: bigint })

/** A binding and what else its row says. */
export interface BoundWorkspace {
  readonly binding: Binding
  readonly verification: Verification | null
}

const BindingRow = z.strictObject({
  tenant: z.string(),
  workspace: z.string(),
  provider: z.string(),
  generation: bigint,
  revision: bigint,
  retired: z.boolean(),
  spec: WorkspaceSpec,
  launch: WorkerLaunchDescriptor.nullable(),
  pending: Intent.nullable(),
  status: MachineStatus.nullable(),
  last_error: ProviderError.nullable(),
  verification: Verification.nullable(),
})

export function boundFrom(row: unknown): BoundWorkspace {
  const { tenant, workspace, provider, generation, spec, launch, verification, ...rest } = BindingRow.parse(row)
  const allocation = Allocation.parse({ owner: { tenant, workspace }, generation, provider, spec, launch })
  return { binding: { allocation, ...rest }, verification }
}
