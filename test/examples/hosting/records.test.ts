// Holds http-contract §7.1.
/** Records of the hosting contracts: each is closed, and what they say of each other holds. */
import { describe, expect, test } from 'vitest'
import { ConnectionGrant, HostStatus, LifecycleRequest } from '../../../examples/hosting/src/records/host-api.js'
import {
  Allocation,
  Binding,
  Capabilities,
  MachineHandle,
  MachineStatus,
  ProtocolRequest,
  WorkerLaunchDescriptor,
  WorkspaceKey,
  WorkspaceSpec,
} from '../../../examples/hosting/src/records/machines.js'
import { isWorkerOf } from '../../../examples/hosting/src/records/worker.js'

const owner = { tenant: 'acme', workspace: 'alpha' }
const spec = { image: 'svc', region: 'here', vcpus: 1, memory_mib: 128, disk_gib: 1 }
const launch = {
  version: 1,
  runtime_id: 'rt-1',
  root: '/workspace',
  state_root: '/state',
  expires_at: 2_000_000_000,
  verification_key: 'A'.repeat(43),
} as const
const allocation = { owner, generation: 1, provider: 'here', spec, launch }
const handle = { owner, generation: 1, provider: 'here', machine_id: 'm-1' }
const connection = { version: 1, handle, agent_api_base_url: 'http://127.0.0.1:1/', transport: 'development_loopback_http' } as const
const running = { handle, state: 'running', ready: true, connection, failure: null } as const
const capabilities = {
  isolation: 'container',
  cpu_limit: true,
  memory_limit: true,
  disk_limit: false,
  durable_workspace: true,
  stop_start: true,
} as const
const binding = { allocation, revision: 1, retired: false, pending: null, status: running, last_error: null }
const grant = {
  version: 1,
  baseUrl: 'http://127.0.0.1:1/t/acme/w/alpha',
  bearer: 'b',
  expiresAt: 1,
  handle,
  root: '/workspace',
  runtimeId: 'rt-1',
  workerGeneration: 1,
  capabilities,
} as const

const GOOD = {
  WorkspaceKey: [WorkspaceKey, owner],
  WorkspaceSpec: [WorkspaceSpec, spec],
  WorkerLaunchDescriptor: [WorkerLaunchDescriptor, launch],
  Allocation: [Allocation, allocation],
  MachineHandle: [MachineHandle, handle],
  MachineStatus: [MachineStatus, running],
  Capabilities: [Capabilities, capabilities],
  Binding: [Binding, binding],
  ProtocolRequest: [ProtocolRequest, { version: 2, allocation, handle: null }],
  LifecycleRequest: [LifecycleRequest, { expected_handle: handle }],
  HostStatus: [HostStatus, { binding, verification: null }],
  ConnectionGrant: [ConnectionGrant, grant],
} as const

describe.each(Object.entries(GOOD))('%s', (_, [schema, good]) => {
  const isTaken = (value: unknown) => schema.safeParse(value).success

  test('is taken as it is', () => expect(isTaken(good)).toBe(true))

  test('has no other members, and all that it needs', () => {
    expect(isTaken({ ...good, more: 1 })).toBe(false)
    const optional = new Set([
      'launch',
      'handle:ProtocolRequest',
      'connection',
      'failure',
      'pending',
      'status',
      'last_error',
      'verification',
    ])
    for (const member of Object.keys(good)) {
      const { [member as never]: _, ...rest } = good as Record<string, unknown>
      const isOptional = optional.has(member) || (schema === GOOD.ProtocolRequest[0] && member === 'handle')
      // A machine that is ready needs its connection.
      const isNeeded = !isOptional || (schema === GOOD.MachineStatus[0] && member === 'connection')
      expect([member, isTaken(rest)]).toEqual([member, !isNeeded])
    }
  })
})

test('bounds are those of the contract', () => {
  const faults: readonly [{ safeParse(value: unknown): { success: boolean } }, unknown][] = [
    [WorkspaceKey, { ...owner, tenant: '' }],
    [WorkspaceKey, { ...owner, tenant: 'a'.repeat(129) }],
    [WorkspaceKey, { ...owner, workspace: 'a/b' }],
    [WorkspaceSpec, { ...spec, image: 'a.b' }],
    [WorkspaceSpec, { ...spec, vcpus: 1025 }],
    [WorkspaceSpec, { ...spec, memory_mib: 127 }],
    [WorkspaceSpec, { ...spec, disk_gib: 0 }],
    [Allocation, { ...allocation, generation: 0 }],
    [WorkerLaunchDescriptor, { ...launch, version: 2 }],
    [WorkerLaunchDescriptor, { ...launch, state_root: '/workspace' }],
    [WorkerLaunchDescriptor, { ...launch, state_root: '/workspace/state' }],
    [WorkerLaunchDescriptor, { ...launch, verification_key: 'A'.repeat(42) }],
    [MachineStatus, { ...running, state: 'starting' }],
    [MachineStatus, { ...running, connection: null }],
    [MachineStatus, { ...running, state: 'stopped', ready: false }],
    [MachineStatus, { handle, state: 'failed', ready: false }],
    [MachineStatus, { ...running, failure: { code: 'timeout', retryable: true } }],
    [MachineStatus, { ...running, connection: { ...connection, agent_api_base_url: 'http://127.0.0.1:1' } }],
    [MachineStatus, { ...running, connection: { ...connection, agent_api_base_url: 'http://10.0.0.1:1/' } }],
    [MachineStatus, { ...running, connection: { ...connection, transport: 'https' } }],
    [ProtocolRequest, { version: 1, allocation }],
  ]
  for (const [schema, value] of faults) expect([value, schema.safeParse(value).success]).toEqual([value, false])
})

test('a worker is the one that was asked for when it says exactly what it was told', () => {
  const worker = {
    version: 1 as const,
    tenantId: 'acme',
    workspaceId: 'alpha',
    runtimeId: 'rt-1',
    runtimeGeneration: 1,
    root: '/workspace',
    expiresAt: launch.expires_at,
  }
  const info = { deployment: 'workspace-worker' as const, executionAvailable: true, worker }
  expect(isWorkerOf(allocation, info)).toBe(true)
  for (const [member, other] of Object.entries({
    tenantId: 'globex',
    workspaceId: 'beta',
    runtimeId: 'rt-2',
    runtimeGeneration: 2,
    root: '/',
    expiresAt: 1,
  })) {
    expect([member, isWorkerOf(allocation, { ...info, worker: { ...worker, [member]: other } })]).toEqual([member, false])
  }
})
