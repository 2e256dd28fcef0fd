/**
 * Tokens of sign-ins, renewed before they end (subsystems c.7).
 *
 * I1 One renewal of a connection at a time, in this process and all others; whoever waited finds the new token.
 * I2 The new token is stored before it is used, in one step: the file has the old pair or the new one.
 * I3 A token is renewed only by whom it came from.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { AuthInfo } from '../../../protocol/provider/connection.js'
import type { Effects } from '../../../ports/effects.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import type { CredentialFile } from '../credentials/credential-file.js'
import { type Connection, type StoredKey, storedConnection, withConnection } from '../credentials/document.js'
import { type OAuth, RefusedRefresh, type Tokens } from './oauth.js'

export interface RenewalDeps {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'sha256'>
  readonly file: CredentialFile
  readonly oauth: Pick<OAuth, 'refresh'>
  /** How this installation signs in; undefined = it does not. */
  readonly settings: (providerId: string) => Promise<SignInConfig | undefined>
}

export interface Renewal {
  /**
   * The secret to call with now; `rejected` is one that the provider has just refused. The same one when there is nothing to renew.
   * Rejects with `ProviderError` when a token has ended and cannot be renewed.
   */
  secret(providerId: string, stored: StoredKey, rejected?: string): Promise<string>
}

type OAuthCredential = Extract<AuthInfo, { type: 'oauth' }>

export function createRenewal({ effects, file, oauth, settings }: RenewalDeps): Renewal {
  const { clock, log } = effects
  const underWay = new Map<string, Promise<string>>()

  const find = async (providerId: string, { connectionId }: StoredKey) => {
    const connection = storedConnection(await file.read(), providerId, connectionId)
    return connection?.credential.type === 'oauth' ? { connection, credential: connection.credential } : undefined
  }
  const isGood = ({ access, expires }: OAuthCredential, rejected: string | undefined) =>
    access !== rejected && (expires === 0 || expires - LIMITS.signIn.skew > clock.now())

  /** Once nobody else does, and if nobody else has. */
  async function renewAlone(providerId: string, stored: StoredKey, rejected: string | undefined): Promise<string> {
    const found = await find(providerId, stored)
    if (found === undefined || isGood(found.credential, rejected)) return found?.credential.access ?? stored.secret
    const { connection, credential } = found
    if (credential.refresh === '') return unrenewed(connection, credential, rejected, 'it came without a refresh token')
    if (file.isGiven) return unrenewed(connection, credential, rejected, 'it stands in SVC_AGENT_AUTH_CONTENT, which cannot be changed')
    const how = await settings(providerId)
    if (how === undefined) return unrenewed(connection, credential, rejected, `provider.${providerId}.signIn is not configured`)
    if (connection.issuer !== undefined && connection.issuer !== (how.issuer ?? how.tokenUrl))
      return unrenewed(connection, credential, rejected, `it came from ${connection.issuer}, which is not the one configured now`)
    let tokens: Tokens
    try {
      tokens = await oauth.refresh(how, credential.refresh)
    } catch (error) {
      const why = error instanceof Error ? error.message : 'the authorization server could not be asked'
      if (error instanceof RefusedRefresh || isOver(credential, rejected)) return unrenewed(connection, credential, rejected, why, error)
      log.warn('a token could not be renewed yet', { providerId, connectionId: connection.connectionId, cause: why })
      return credential.access
    }
    return keep(connection, credential, tokens)
  }

  /** I2. One that was removed or replaced meanwhile stays so. */
  async function keep({ providerId, connectionId }: Connection, before: OAuthCredential, tokens: Tokens): Promise<string> {
    return file.change((document) => {
      const connection = storedConnection(document, providerId, connectionId)
      const is = connection?.credential
      if (connection === undefined || is?.type !== 'oauth' || is.refresh !== before.refresh) return [document, tokens.access]
      const { access, expires, accountId } = tokens
      const refresh = tokens.refresh === '' ? is.refresh : tokens.refresh
      const credential = { ...is, access, expires, refresh, ...(accountId === undefined ? {} : { accountId }) }
      return [withConnection(document, { ...connection, credential }), access]
    })
  }

  const isOver = ({ access, expires }: OAuthCredential, rejected: string | undefined) =>
    access === rejected || (expires !== 0 && expires <= clock.now())

  /** A token that nobody renews is good until it ends. */
  function unrenewed(
    { providerId, label }: Connection,
    credential: OAuthCredential,
    rejected: string | undefined,
    why: string,
    cause?: unknown,
  ): string {
    if (!isOver(credential, rejected)) return credential.access
    const isRefused = cause === undefined || cause instanceof RefusedRefresh
    const next = isRefused ? `Sign in again: svc auth login ${providerId}` : 'It is tried again with the next call'
    throw new ProviderError(
      `The sign-in "${label}" of provider "${providerId}" has ended and cannot be renewed: ${sentence(why)} ${next}.`,
      {
        retryable: !isRefused,
        cause,
      },
    )
  }

  return {
    async secret(providerId, stored, rejected) {
      if (stored.type !== 'oauth') return stored.secret
      const found = await find(providerId, stored)
      if (found === undefined) return stored.secret
      if (isGood(found.credential, rejected)) return found.credential.access
      const key = `${providerId}\0${stored.connectionId}`
      const slot = Number.parseInt(effects.sha256(key).slice(0, 8), 16) % LIMITS.signIn.renewLocks
      const work =
        underWay.get(key) ??
        file
          .alone(`renew-${slot}`, LIMITS.signIn.renewWait, () => renewAlone(providerId, stored, rejected))
          .finally(() => underWay.delete(key))
      underWay.set(key, work)
      return work
    },
  }
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}
