/** What a worker is told at its start, and what it says of itself (subsystems d.9). Times are seconds since 1970. */
import * as z from 'zod'
import type { Allocation } from './machines.js'

const id = z.string().regex(/^[A-Za-z0-9\-_.:@]{1,256}$/)

export interface Bootstrap {
  readonly version: 1
  readonly tenantId: string
  readonly workspaceId: string
  readonly root: string
  readonly runtimeId: string
  readonly runtimeGeneration: number
  readonly expiresAt: number
}

export const SCOPES = ['agent:read', 'agent:use', 'workspace:admin'] as const

export const WorkerClaims = z.strictObject({
  version: z.literal(1),
  tenantId: id,
  workspaceId: id,
  runtimeId: id,
  runtimeGeneration: z.int().positive(),
  subject: id,
  actorType: z.enum(['human', 'service-account']),
  directoryPrefix: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  issuedAt: z.int(),
  expiresAt: z.int(),
})
export type WorkerClaims = z.infer<typeof WorkerClaims>

/** `GET /v2/runtime` of a worker. Open: later versions of svc may say more. */
export const RuntimeInfo = z.looseObject({
  deployment: z.literal('workspace-worker'),
  executionAvailable: z.boolean(),
  worker: z.looseObject({
    version: z.literal(1),
    tenantId: z.string(),
    workspaceId: z.string(),
    runtimeId: z.string(),
    runtimeGeneration: z.int().positive(),
    root: z.string(),
    expiresAt: z.int(),
  }),
})
export type RuntimeInfo = z.infer<typeof RuntimeInfo>

/** What a worker is told of itself; undefined where an allocation has nothing to launch. */
export function bootstrapOf({ owner, generation, launch }: Allocation): Bootstrap | undefined {
  if (launch == null) return undefined
  return {
    version: 1,
    tenantId: owner.tenant,
    workspaceId: owner.workspace,
    root: launch.root,
    runtimeId: launch.runtime_id,
    runtimeGeneration: generation,
    expiresAt: launch.expires_at,
  }
}

/** Whether a worker is the one that was asked for: same version, root, identity and generation, until the same time. */
export function isWorkerOf(allocation: Allocation, { worker }: RuntimeInfo): boolean {
  const told = bootstrapOf(allocation)
  return told !== undefined && (Object.keys(told) as (keyof Bootstrap)[]).every((member) => worker[member] === told[member])
}
