/** What an application hands its user: the right to speak to one worker, in one generation of it, for some minutes. */
import * as z from 'zod'
import { WorkspaceKey } from '../records/machines.js'
import { SCOPES } from '../records/worker.js'
import { createSealed, type Sealed } from './sealed.js'

export const Grant = z.strictObject({
  owner: WorkspaceKey,
  generation: z.int().positive(),
  subject: z.string(),
  actorType: z.enum(['human', 'service-account']),
  scopes: z.array(z.enum(SCOPES)),
  expiresAt: z.int(),
})
export type Grant = z.infer<typeof Grant>

export function createGrants(key: Uint8Array): Sealed<Grant> {
  return createSealed('svc-host-grant-v1', key, Grant)
}
