/** Tokens that a worker takes: `svc-workspace-worker-v1.<payload>.<signature>`, signed with the seed that only controllers hold. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { WorkerClaims } from '../records/worker.js'

const PREFIX = 'svc-workspace-worker-v1.'
/** An Ed25519 seed is a PKCS #8 key behind this head. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** A worker refuses what lasts longer, seconds. */
export const TOKEN_LIFETIME = 300

export interface Signer {
  /** Base64url of the 32 bytes that workers verify with. */
  readonly verificationKey: string
  token(claims: WorkerClaims): string
}

/** `seed`: 32 bytes. */
export function createSigner(seed: Uint8Array): Signer {
  if (seed.length !== 32) throw new Error(`the signing seed has ${seed.length} bytes instead of 32`)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  return {
    verificationKey: publicBytes(key).toString('base64url'),
    token(claims) {
      const signed = PREFIX + Buffer.from(JSON.stringify(WorkerClaims.parse(claims))).toString('base64url')
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
    },
  }
}

function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}
