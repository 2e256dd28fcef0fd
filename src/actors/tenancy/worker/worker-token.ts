/**
 * A token that a controller has signed for one worker (subsystems d.9): `svc-workspace-worker-v1.<payload>.<signature>`, both base64url
 * without padding, the signature Ed25519 over everything before its dot. Pure.
 *
 * I1 A token has one spelling: what does not encode to itself again is none. A signature ends in bits that no byte has, so there are
 *    sixteen spellings that a decoder takes.
 * I2 Nothing of what is signed is looked at before the signature is found to be right.
 * I3 A key to which everybody could sign is none.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { isWithin } from '../../../protocol/caller.js'
import { type WorkerBootstrap, WorkerClaims } from '../../../protocol/hosting/worker.js'
import { LIMITS } from '../../../protocol/limits.js'

const PREFIX = 'svc-workspace-worker-v1.'
const SHAPE = /^svc-workspace-worker-v1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/
const SECOND = 1000
const { token: MOST, keyBytes, ahead } = LIMITS.worker

/** What stands before the bytes of such a key in its standard form (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
/** Points of small order without their sign: signatures for these need no secret (RFC 8032, 8.7). */
const WEAK = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/** The key of 32 bytes; undefined for what is none (I3). */
export function keyOfBytes(bytes: Uint8Array): KeyObject | undefined {
  const point = Buffer.from(bytes)
  if (point.length !== keyBytes) return undefined
  const unsigned = Buffer.from(point)
  unsigned[keyBytes - 1] = (unsigned[keyBytes - 1] ?? 0) & 0x7f
  if (WEAK.has(unsigned.toString('hex'))) return undefined
  return createPublicKey({ key: Buffer.concat([SPKI, point]), format: 'der', type: 'spki' })
}

/** Claims that this key has signed for this worker; undefined for everything else. Whether they hold now is another question. */
export function readToken(text: string, key: KeyObject, worker: WorkerBootstrap): WorkerClaims | undefined {
  const [, payload = '', signature = ''] = text.length > MOST ? [] : (SHAPE.exec(text) ?? [])
  const [bytes, signed] = [Buffer.from(payload, 'base64url'), Buffer.from(signature, 'base64url')]
  if (payload === '' || bytes.toString('base64url') !== payload || signed.toString('base64url') !== signature) return undefined // I1
  if (!verify(null, Buffer.from(`${PREFIX}${payload}`), key, signed)) return undefined
  const claims = claimsIn(bytes)
  return claims !== undefined && isFor(claims, worker) ? claims : undefined
}

/** Whether claims hold at a moment, Unix ms: from a little before they were made, for clocks differ, up to and not including their end. */
export function holds({ issuedAt, expiresAt }: Pick<WorkerClaims, 'issuedAt' | 'expiresAt'>, now: number): boolean {
  return issuedAt * SECOND <= now + ahead && now < expiresAt * SECOND
}

function claimsIn(bytes: Buffer): WorkerClaims | undefined {
  try {
    return WorkerClaims.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    return undefined
  }
}

function isFor(claims: WorkerClaims, worker: WorkerBootstrap): boolean {
  return (
    claims.tenantId === worker.tenantId &&
    claims.workspaceId === worker.workspaceId &&
    claims.runtimeId === worker.runtimeId &&
    claims.runtimeGeneration === worker.runtimeGeneration &&
    claims.expiresAt <= worker.expiresAt &&
    isWithin(worker.root, claims.directoryPrefix)
  )
}
