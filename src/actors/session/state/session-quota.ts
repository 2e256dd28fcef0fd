/**
 * How many sessions a tenant may have, by the quotas of whoever makes one more (subsystems d.3, d.6).
 *
 * I1 Counted are all of the tenant, archived ones, copies and children too; decided in the transaction that makes the row.
 * I2 A session keeps the quotas it was made with: children that its agent makes, and artifacts, are held to them.
 */
import { type Caller, quotasOf } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Store } from '../../../store/store.js'

/** I2: of the caller, or else of what the session comes from. */
export function keptQuotas({ quotas }: Pick<Caller, 'quotas'>, from?: Session): Pick<Caller, 'quotas'> {
  const kept = quotas ?? (from === undefined ? undefined : quotasOf(from))
  return kept === undefined ? {} : { quotas: kept }
}

/** Throws `quota.exceeded` when the tenant has as many as it may. */
export function refuseTooManySessions({ sessions }: Pick<Store, 'sessions'>, tenantId: string, { quotas }: Pick<Caller, 'quotas'>): void {
  const most = quotas?.maxSessions
  if (most === undefined || sessions.count(tenantId) < most) return
  throw new SvcError('quota.exceeded', `The quota of this tenant is used up: it may have ${most} sessions. Delete some first.`, {
    quota: 'maxSessions',
    limit: most,
  })
}
