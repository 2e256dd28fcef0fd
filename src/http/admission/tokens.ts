/** Who is calling: bearer credentials, or trusted mode when none is configured (threat-model T1–T3; subsystems d). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { LOCAL_TENANT, TRUSTED_CALLER } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'

export interface TokenSource {
  /** True when no credential is configured: everybody who passes the doors is `TRUSTED_CALLER`. */
  readonly trusted: boolean
  /** The caller of an Authorization header; throws `auth.invalid_token`, the same for every cause. */
  authenticate(authorization: string | undefined): Caller
}

const OPERATOR: Caller = {
  subject: 'local-operator',
  tenantId: LOCAL_TENANT,
  authenticated: true,
  operator: true,
  directoryPrefixes: undefined,
}
const TOKEN = /^[\x21-\x7e]+$/
const BEARER = /^bearer +([\x21-\x7e]+) *$/i

/** Whether an Authorization header holds something that could have been the token. */
export function isGuess(authorization: string | undefined): boolean {
  return BEARER.test(authorization ?? '')
}

/** Reads `SVC_AGENT_TOKEN`; a credential that is configured but unusable is `config.invalid` and stops the start. */
export function createTokens(env: Readonly<Record<string, string | undefined>>): TokenSource {
  if (env['SVC_AGENT_AUTH_CONFIG'] !== undefined) {
    throw new SvcError(
      'config.invalid',
      'SVC_AGENT_AUTH_CONFIG is set, but this version has no tenants. Unset it, or use SVC_AGENT_TOKEN for one local operator.',
    )
  }
  const token = env['SVC_AGENT_TOKEN']
  if (token === undefined) return { trusted: true, authenticate: () => TRUSTED_CALLER }
  if (!TOKEN.test(token)) {
    throw new SvcError('config.invalid', 'SVC_AGENT_TOKEN is empty or contains characters other than printable ASCII without spaces.')
  }
  const expected = digest(token)
  return {
    trusted: false,
    authenticate(authorization) {
      const given = BEARER.exec(authorization ?? '')?.[1]
      if (given === undefined || !timingSafeEqual(digest(given), expected)) throw new SvcError('auth.invalid_token')
      return OPERATOR
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
