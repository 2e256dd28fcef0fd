/** Remembered "always" answers (sessions-events §8.11). */
import type { Approval } from '../../protocol/interaction/interaction.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Session } from '../../protocol/session/session.js'
import type { Store } from '../../store/store.js'

type Approvals = Pick<Store, 'approvals'>

/** What remembered answers belong to: a tenant, and what `Project.approvals` names. */
export interface ApprovalScope {
  readonly session: Pick<Session, 'svcTenantId'>
  readonly approvals: string
}

export function approvalsOf(store: Approvals, scope: ApprovalScope): Approval[] {
  return store.approvals.get(tenantOf(scope), scope.approvals)
}

interface Answered {
  readonly permission: string
  readonly asked: readonly string[]
  readonly wider: readonly string[]
  /** When, in which session, by whom. */
  readonly given: Pick<Approval, 'at' | 'sessionId' | 'by'>
}

/** Remembers what was asked, to the letter, and the wider patterns the answer named; inside the caller's commit. Answers all there are by now, and those of it. */
export function approve(
  store: Approvals,
  scope: ApprovalScope,
  { permission, asked, wider, given }: Answered,
): { readonly all: readonly Approval[]; readonly added: readonly Approval[] } {
  const added = [
    ...asked.map((pattern): Approval => ({ permission, pattern, action: 'allow', exact: true, ...given })),
    ...wider.map((pattern): Approval => ({ permission, pattern, action: 'allow', ...given })),
  ]
  const known = new Map([...approvalsOf(store, scope), ...added].map((approval) => [keyOf(approval), approval]))
  const all = [...known.values()].slice(-LIMITS.run.approvals)
  store.approvals.put(tenantOf(scope), scope.approvals, all)
  return { all, added }
}

function keyOf({ permission, pattern, exact }: Approval): string {
  return JSON.stringify([permission, pattern, exact === true])
}

function tenantOf({ session }: ApprovalScope): string {
  return session.svcTenantId ?? 'local'
}
