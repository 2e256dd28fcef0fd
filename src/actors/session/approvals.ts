/** Remembered "always" answers (sessions-events §8.11). */
import type { Approval } from '../../protocol/interaction.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Session } from '../../protocol/session.js'
import type { Store } from '../../store/store.js'

type Approvals = Pick<Store, 'approvals'>

export function approvalsOf(store: Approvals, session: Session): Approval[] {
  return store.approvals.get(tenantOf(session), approvalKey(session))
}

/** Remembers what was asked, to the letter, and the wider patterns the answer named; inside the caller's commit. Answers all there are by now. */
export function approve(
  store: Approvals,
  session: Session,
  { permission, asked, wider }: { readonly permission: string; readonly asked: readonly string[]; readonly wider: readonly string[] },
): readonly Approval[] {
  const added = [
    ...asked.map((pattern): Approval => ({ permission, pattern, action: 'allow', exact: true })),
    ...wider.map((pattern): Approval => ({ permission, pattern, action: 'allow' })),
  ]
  const known = new Map([...approvalsOf(store, session), ...added].map((approval) => [keyOf(approval), approval]))
  const all = [...known.values()].slice(-LIMITS.run.approvals)
  store.approvals.put(tenantOf(session), approvalKey(session), all)
  return all
}

function keyOf({ permission, pattern, exact }: Approval): string {
  return JSON.stringify([permission, pattern, exact === true])
}

function tenantOf(session: Session): string {
  return session.svcTenantId ?? 'local'
}

/** Approvals belong to a project; outside any repository to the directory, so that unrelated folders share nothing. */
function approvalKey(session: Session): string {
  return session.projectId === 'global' ? `global:${session.directory}` : session.projectId
}
