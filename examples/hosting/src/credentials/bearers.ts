/** Bearers that were given out once and stand in a configuration as digests: of applications, and of controllers at a provider. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** The bearer of a request; undefined where there is none, or more than one header that could be it. */
export function bearerOf({ headersDistinct }: IncomingMessage): string | undefined {
  const given = headersDistinct['authorization']
  if (given?.length !== 1) return undefined
  return /^Bearer ([\x21-\x7e]{1,8192})$/i.exec(given[0] ?? '')?.[1]
}

/** The one of `known` whose secret this is. All are compared, in the same time whatever is given. */
export function holderOf<Known extends { readonly sha256: string }>(known: readonly Known[], secret: string): Known | undefined {
  const digest = Buffer.from(digestOf(secret), 'hex')
  let found: Known | undefined
  for (const each of known) if (timingSafeEqual(digest, Buffer.from(each.sha256, 'hex'))) found = each
  return found
}
