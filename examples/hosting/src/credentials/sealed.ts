/** Credentials that controllers give out and take back themselves: `<prefix>.<payload>.<HMAC-SHA-256>`, base64url, one spelling each. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type * as z from 'zod'

const LONGEST = 4096
const REMEMBERED = 4096

export interface Sealed<Claims> {
  seal(claims: Claims): string
  /** Its claims while it lasts; undefined for everything that was not sealed with this key, or is over. */
  open(credential: string, seconds: number): Claims | undefined
}

/** `prefix` is part of what is signed: a credential of one kind is none of another. */
export function createSealed<Claims extends { readonly expiresAt: number }>(
  prefix: string,
  key: Uint8Array,
  schema: z.ZodType<Claims>,
): Sealed<Claims> {
  /** What was opened before; a credential is immutable, so that only its time has to be looked at again. */
  const opened = new Map<string, Claims>()
  const signature = (signed: string) => createHmac('sha256', key).update(signed).digest()

  function read(credential: string): Claims | undefined {
    const [head, payload, given, ...rest] = credential.split('.')
    if (head !== prefix || payload === undefined || given === undefined || rest.length > 0) return undefined
    const bytes = Buffer.from(given, 'base64url')
    const expected = signature(`${head}.${payload}`)
    if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected) || bytes.toString('base64url') !== given) return undefined
    return schema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data
  }

  return {
    seal(claims) {
      const signed = `${prefix}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      return `${signed}.${signature(signed).toString('base64url')}`
    },
    open(credential, seconds) {
      if (credential.length > LONGEST) return undefined
      const claims = opened.get(credential) ?? read(credential)
      if (claims === undefined) return undefined
      if (claims.expiresAt <= seconds) {
        opened.delete(credential)
        return undefined
      }
      if (opened.size >= REMEMBERED) opened.clear()
      opened.set(credential, claims)
      return claims
    },
  }
}
