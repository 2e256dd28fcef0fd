/** A credential for models, as a host lends it to a worker (docs/workers.md). Times are seconds since 1970. */
import * as z from 'zod'
import { isSendable } from '../text/bearer.js'

const secret = z.string().min(1).refine(isSendable)

/** Exactly one of a key and a token; what else a host says is passed over. */
export const ModelCredential = z
  .object({
    version: z.literal(1),
    provider: z.string(),
    apiKey: secret.optional(),
    /** Of a sign-in: sent as a bearer. */
    token: secret.optional(),
    /** Where it goes, instead of where the installation says. */
    baseUrl: z
      .string()
      .max(2048)
      .refine((text) => isSafeAddress(text))
      .optional(),
    expiresAt: z.number().int().positive().max(99_999_999_999),
  })
  .refine(({ apiKey, token }) => (apiKey === undefined) !== (token === undefined))

/** https, or http to this machine; without a login, a query or a fragment. */
export function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname))
}
