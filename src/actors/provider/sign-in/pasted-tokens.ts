/**
 * Tokens that somebody is about to paste: the sign-in that needs nothing of the vendor (subsystems c.7).
 *
 * I1 An attempt is bound to its provider, scope and caller, is taken once, and ends by itself.
 */
import type { Caller } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { ProviderAuthAuthorization, ProviderAuthorizeRequest } from '../../../protocol/provider/sign-in.js'
import type { Effects } from '../../../ports/effects.js'

export interface Place {
  readonly providerId: string
  readonly workspaceId: string | undefined
}

type Wanted = Pick<ProviderAuthorizeRequest, 'label' | 'connectionId'>

export interface PastedTokens {
  /** `address`: where the token will be sent. */
  begin(
    caller: Caller,
    place: Place,
    wanted: Wanted & { readonly attemptId: string; readonly address: string | undefined },
  ): ProviderAuthAuthorization
  isKnown(attemptId: string): boolean
  /** Undefined when it is not theirs, was taken, or is over. */
  take(caller: Caller, place: Place, attemptId: string): Wanted | undefined
}

export function createPastedTokens({ clock }: Pick<Effects, 'clock'>): PastedTokens {
  const attempts = createLru<string, Place & Wanted & { readonly subject: string; readonly expiresAt: number; isTaken: boolean }>(
    LIMITS.signIn.attempts,
  )
  return {
    begin({ subject }, place, { attemptId, address, ...wanted }) {
      const expiresAt = clock.now() + LIMITS.signIn.lifetime
      attempts.set(attemptId, { ...place, ...wanted, subject, expiresAt, isTaken: false })
      const url = address !== undefined && URL.canParse(address) ? new URL(address).origin : ''
      return { url, method: 'code', instructions: 'Paste an OAuth token of this provider.', attemptId, expiresAt }
    },
    isKnown: (attemptId) => attempts.get(attemptId) !== undefined,
    take({ subject }, { providerId, workspaceId }, attemptId) {
      const attempt = attempts.get(attemptId)
      const isTheirs = attempt?.providerId === providerId && attempt.workspaceId === workspaceId && attempt.subject === subject
      if (attempt === undefined || !isTheirs || attempt.isTaken || attempt.expiresAt <= clock.now()) return undefined
      attempt.isTaken = true
      return {
        ...(attempt.label !== undefined && { label: attempt.label }),
        ...(attempt.connectionId !== undefined && { connectionId: attempt.connectionId }),
      }
    },
  }
}
