/** Who is calling: bearer credentials, or trusted mode when none is configured (threat-model T1–T3; subsystems d). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { LOCAL_TENANT, TRUSTED_CALLER } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import type { CredentialSource } from '../../ports/credentials.js'
import { SvcError } from '../../protocol/errors.js'

export interface TokenSource {
  /** True when no credential is configured: everybody who passes the doors is `TRUSTED_CALLER`. */
  readonly trusted: boolean
  /** The caller of an Authorization header; throws or rejects with `auth.invalid_token`, the same for every cause. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>
  /** Whether what made this caller is still good. */
  stands(caller: Caller): boolean
}

/** What there is besides the token of the operator. */
export interface OtherCredentials {
  readonly file?: CredentialSource | undefined
  readonly signed?: CredentialSource | undefined
  /** Of a worker: nothing but its tokens is a credential then (subsystems d.1). */
  readonly worker?: CredentialSource | undefined
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

/** Credentials with this beginning are of the workspace daemon, and of nobody else (subsystems d.1). */
const SIGNED = 'svc-daemon-v1.'

/** Reads `SVC_AGENT_TOKEN`; a credential that is configured but unusable is `config.invalid` and stops the start. */
export function createTokens(env: Readonly<Record<string, string | undefined>>, others: OtherCredentials = {}): TokenSource {
  const { file, signed, worker } = others
  if (worker !== undefined) return tokensOf(env, worker)
  if (env['SVC_AGENT_AUTH_CONFIG'] !== undefined && file === undefined)
    throw new SvcError('config.invalid', 'SVC_AGENT_AUTH_CONFIG is set, and no token file was read.')
  const token = env['SVC_AGENT_TOKEN']
  if (token !== undefined && !TOKEN.test(token))
    throw new SvcError('config.invalid', 'SVC_AGENT_TOKEN is empty or contains characters other than printable ASCII without spaces.')
  if (token?.startsWith(SIGNED) === true)
    throw new SvcError('config.invalid', `SVC_AGENT_TOKEN begins with ${SIGNED}: no such token is ever looked for.`)
  if (token === undefined && file === undefined && signed === undefined)
    return { trusted: true, authenticate: () => TRUSTED_CALLER, stands: () => true }
  const expected = token === undefined ? undefined : digest(token)

  /** Every source that a credential could be of is asked, whatever the others say (threat-model T2). */
  function callerOf(secret: string): Caller | undefined | Promise<Caller | undefined> {
    if (secret.startsWith(SIGNED)) return signed?.callerOf(secret)
    const isOperator = expected !== undefined && timingSafeEqual(digest(secret), expected)
    const other = file?.callerOf(secret)
    return isOperator ? OPERATOR : other
  }

  return {
    trusted: false,
    authenticate(authorization) {
      const given = BEARER.exec(authorization ?? '')?.[1]
      const caller = given === undefined ? undefined : callerOf(given)
      return caller instanceof Promise ? caller.then(admitted) : admitted(caller)
    },
    stands: (caller) => file?.stands(caller) ?? signed?.stands(caller) ?? true,
  }
}

/** T1: a credential that would open nothing stops the start. */
function tokensOf(env: Readonly<Record<string, string | undefined>>, worker: CredentialSource): TokenSource {
  const other = ['SVC_AGENT_TOKEN', 'SVC_AGENT_AUTH_CONFIG', 'SVC_DAEMON_TOKEN'].find((name) => (env[name] ?? '') !== '')
  if (other !== undefined) throw new SvcError('config.invalid', `${other} is set, and a worker takes the tokens of its controller alone.`)
  return {
    trusted: false,
    authenticate(authorization) {
      const given = BEARER.exec(authorization ?? '')?.[1]
      const caller = given === undefined ? undefined : worker.callerOf(given)
      return caller instanceof Promise ? caller.then(admitted) : admitted(caller)
    },
    stands: (caller) => worker.stands(caller) === true,
  }
}

function admitted(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new SvcError('auth.invalid_token')
  return caller
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
