/**
 * A credential that the workspace daemon has signed (subsystems d.5): `svc-daemon-v1.<payload>.<signature>`, both base64url without
 * padding, the signature an HMAC-SHA-256 over everything before its dot. Pure.
 *
 * I1 A credential has one spelling: what does not encode to itself again is none.
 * I2 Nothing of what is signed is looked at before the signature is found to be right.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { LOCAL_TENANT } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isPlain } from '../../../protocol/text/plain-path.js'

export const SIGNED_PREFIX = 'svc-daemon-v1.'
const SHAPE = /^svc-daemon-v1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/
const SECOND = 1000
const { credential: MOST, subject: SUBJECT, lifetime, ahead } = LIMITS.signed

/** Callers of this server itself: nobody is signed to be one of them. */
const OURS = /^(?:local|local-operator|hosted:.*)$/

const name = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/)
const directory = z.string().max(LIMITS.tenants.prefix).refine(isPlain)
const Claims = z
  .strictObject({
    issuer: z.literal('svc-workspace-daemon'),
    audience: z.literal('svc-agent-server'),
    subject: z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .max(SUBJECT)
      .refine((subject) => !OURS.test(subject)),
    workspaceId: name.nullable().optional(),
    tenantId: name.refine((id) => id !== '.' && id !== '..'),
    directoryPrefixes: z.array(directory).max(LIMITS.tenants.prefixes),
    hosted: z.boolean(),
    issuedAt: z.number().int().positive(),
    expiresAt: z.number().int().positive(),
  })
  .refine(({ hosted, tenantId }) => !hosted || tenantId !== LOCAL_TENANT)
  .refine(({ issuedAt, expiresAt }) => expiresAt > issuedAt && (expiresAt - issuedAt) * SECOND <= lifetime)
export type Claims = z.infer<typeof Claims>

/** `forged`: not by this key. `refused`: by this key, and no claims that count. */
type Verdict = Claims | 'malformed' | 'forged' | 'refused'

export function readCredential(text: string, key: string): Verdict {
  const [, payload = '', signature = ''] = text.length > MOST ? [] : (SHAPE.exec(text) ?? [])
  const [bytes, given] = [Buffer.from(payload, 'base64url'), Buffer.from(signature, 'base64url')]
  if (payload === '' || bytes.toString('base64url') !== payload || given.toString('base64url') !== signature) return 'malformed' // I1
  const expected = createHmac('sha256', key).update(`${SIGNED_PREFIX}${payload}`).digest()
  if (!timingSafeEqual(expected, given)) return 'forged'
  try {
    return Claims.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    return 'refused'
  }
}

/** Whether claims hold at a moment, Unix ms: from a little before they were made, for clocks differ, up to and not including their end. */
export function holds({ issuedAt, expiresAt }: Pick<Claims, 'issuedAt' | 'expiresAt'>, now: number): boolean {
  return issuedAt * SECOND <= now + ahead && now < expiresAt * SECOND
}
