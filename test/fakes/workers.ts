/** Tokens as the controller of a worker signs them. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { WorkerBootstrap } from '../../src/protocol/hosting/worker.js'

export const WORKER_PREFIX = 'svc-workspace-worker-v1.'

/** A seed and the 32 bytes that verify what it signs. */
export function workerKeys(): { readonly seed: KeyObject; readonly bytes: Buffer; readonly verifier: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { seed: privateKey, bytes: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'), verifier: publicKey }
}

export function bootstrapAt(now: number, more: Partial<WorkerBootstrap> = {}): WorkerBootstrap {
  return {
    version: 1,
    tenantId: 'acme',
    workspaceId: 'ws-1',
    root: '/srv/space',
    runtimeId: 'rt-1',
    runtimeGeneration: 3,
    expiresAt: Math.floor(now / 1000) + 3600,
    ...more,
  }
}

/** Claims that are good for five minutes from `now` (Unix ms), for that worker. */
export function workerClaims(worker: WorkerBootstrap, now: number, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const issuedAt = Math.floor(now / 1000)
  const { tenantId, workspaceId, runtimeId, runtimeGeneration, root } = worker
  return {
    version: 1,
    tenantId,
    workspaceId,
    runtimeId,
    runtimeGeneration,
    subject: 'user:ada',
    actorType: 'human',
    directoryPrefix: root,
    scopes: ['agent:read', 'agent:use'],
    issuedAt,
    expiresAt: Math.min(issuedAt + 300, worker.expiresAt),
    ...more,
  }
}

export function signWorker(claims: unknown, seed: KeyObject): string {
  return signWorkerText(JSON.stringify(claims), seed)
}

export function signWorkerText(payload: string | Buffer, seed: KeyObject): string {
  const head = `${WORKER_PREFIX}${Buffer.from(payload).toString('base64url')}`
  return `${head}.${sign(null, Buffer.from(head), seed).toString('base64url')}`
}
