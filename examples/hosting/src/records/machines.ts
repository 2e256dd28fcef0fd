/** What the two contracts of a host say of a workspace and of the machine it has (http-contract §7.1). All records are closed. */
import * as z from 'zod'

/** Of a database column that is a 64-bit number, too; none here comes near to what a number cannot hold. */
const positive = z.int().positive()
const word = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/)
const key = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/)

export const WorkspaceKey = z.strictObject({ tenant: key, workspace: key })
export type WorkspaceKey = z.infer<typeof WorkspaceKey>

export const WorkspaceSpec = z.strictObject({
  image: word,
  region: word,
  vcpus: z.int().min(1).max(1024),
  memory_mib: z.int().min(128).max(4_194_304),
  disk_gib: z.int().min(1).max(65_536),
})
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>

const place = z.string().min(2).max(4096).startsWith('/')

export const WorkerLaunchDescriptor = z
  .strictObject({
    version: z.literal(1),
    runtime_id: z.string().min(1).max(128),
    root: place,
    state_root: place,
    expires_at: positive,
    /** Base64url of the 32 bytes of an Ed25519 public key. */
    verification_key: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  })
  .refine(({ root, state_root }) => state_root !== root && !state_root.startsWith(`${root}/`), 'state_root lies inside root')
export type WorkerLaunchDescriptor = z.infer<typeof WorkerLaunchDescriptor>

export const Allocation = z.strictObject({
  owner: WorkspaceKey,
  generation: positive,
  provider: word,
  spec: WorkspaceSpec,
  launch: WorkerLaunchDescriptor.nullable().optional(),
})
export type Allocation = z.infer<typeof Allocation>

export const MachineHandle = z.strictObject({
  owner: WorkspaceKey,
  generation: positive,
  provider: z.string(),
  machine_id: z.string().min(1).max(128),
})
export type MachineHandle = z.infer<typeof MachineHandle>

const MachineState = z.enum(['provisioning', 'starting', 'running', 'stopping', 'stopped', 'failed', 'destroyed'])

export const ProviderError = z.strictObject({
  code: z.enum(['transport', 'timeout', 'unauthorized', 'not_found', 'conflict', 'rejected', 'unavailable', 'protocol', 'identity']),
  retryable: z.boolean(),
})
export type ProviderError = z.infer<typeof ProviderError>

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/

const WorkerConnection = z
  .strictObject({
    version: z.literal(1),
    handle: MachineHandle,
    agent_api_base_url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .endsWith('/'),
    transport: z.enum(['https', 'development_loopback_http']),
  })
  .refine(({ agent_api_base_url, transport }) => {
    const { protocol, hostname } = new URL(agent_api_base_url)
    return transport === 'https' ? protocol === 'https:' : protocol === 'http:' && LOOPBACK.test(hostname)
  }, 'the transport is not that of the address')
export type WorkerConnection = z.infer<typeof WorkerConnection>

export const MachineStatus = z
  .strictObject({
    handle: MachineHandle,
    state: MachineState,
    ready: z.boolean(),
    connection: WorkerConnection.nullable().optional(),
    failure: ProviderError.nullable().optional(),
  })
  .refine(({ state, ready, connection }) => !ready || (state === 'running' && connection != null), 'ready without running and a connection')
  .refine(({ state, connection }) => connection == null || state === 'running', 'a connection of what does not run')
  .refine(({ state, failure }) => (state === 'failed') === (failure != null), 'a failure exactly where it failed')
export type MachineStatus = z.infer<typeof MachineStatus>

export const Intent = z.enum(['ensure', 'start', 'stop', 'destroy'])
export type Intent = z.infer<typeof Intent>

export const Capabilities = z.strictObject({
  isolation: z.enum(['virtual_machine', 'container']),
  cpu_limit: z.boolean(),
  memory_limit: z.boolean(),
  disk_limit: z.boolean(),
  durable_workspace: z.boolean(),
  stop_start: z.boolean(),
})
export type Capabilities = z.infer<typeof Capabilities>

export const Binding = z.strictObject({
  allocation: Allocation,
  revision: positive,
  retired: z.boolean(),
  pending: Intent.nullable().optional(),
  status: MachineStatus.nullable().optional(),
  last_error: ProviderError.nullable().optional(),
})
export type Binding = z.infer<typeof Binding>

export const ProtocolRequest = z.strictObject({
  version: z.literal(2),
  allocation: Allocation,
  handle: MachineHandle.nullable().optional(),
})
export type ProtocolRequest = z.infer<typeof ProtocolRequest>

export const ProtocolResponse = z.strictObject({ version: z.literal(2), status: MachineStatus })

/** Whether a handle is that of the machine an allocation speaks of. */
export function isOf({ owner, generation, provider }: Allocation, handle: MachineHandle): boolean {
  return sameOwner(owner, handle.owner) && handle.generation === generation && handle.provider === provider
}

export function sameOwner(a: WorkspaceKey, b: WorkspaceKey): boolean {
  return a.tenant === b.tenant && a.workspace === b.workspace
}

export function sameHandle(a: MachineHandle, b: MachineHandle): boolean {
  return sameOwner(a.owner, b.owner) && a.generation === b.generation && a.provider === b.provider && a.machine_id === b.machine_id
}

/** One text for each workspace: no tenant has a slash. */
export const nameOf = ({ tenant, workspace }: WorkspaceKey): string => `${tenant}/${workspace}`
