/** Sessions of hosted callers, strangers to this installation: what their records say, and who goes on for them (subsystems d.6; decision 42). */
import { type Caller, isWithin, LOCAL_TENANT } from '../../protocol/caller.js'
import type { ExecutionPolicy } from '../../protocol/session/execution-policy.js'
import type { Session } from '../../protocol/session/session.js'

export interface Hosting {
  /** What holds for callers that are hosted, as of now. Never rejects. */
  policy(): Promise<ExecutionPolicy>
  /** Throws where the session is a stranger's and the installation lends it no such model. */
  checkModel(session: Session | undefined, providerId: string): Promise<void>
}

/** What stands on the record of a session of a hosted caller (d.6); a child has what its parent has, however it is made. */
export function hostedFields(caller: Caller, policy: ExecutionPolicy, parent?: Session) {
  if (parent?.executionPolicy !== undefined && caller.isAutomatic === true) {
    const { executionPolicy, createdBy = caller.subject, directoryPrefixes = [] } = parent
    return { executionPolicy, createdBy, directoryPrefixes }
  }
  const { subject: createdBy, directoryPrefixes = [] } = caller
  return { executionPolicy: policy, createdBy, directoryPrefixes: [...directoryPrefixes] }
}

/** Whether all of a place lies in what the owner of a session may use. */
export function isOfOwner({ directoryPrefixes = [] }: Partial<Pick<Session, 'directoryPrefixes'>>, path: string): boolean {
  return directoryPrefixes.some((prefix) => isWithin(prefix, path))
}

/** Who goes on where a session went on, for a plugin that works for it: of the same tenant, under the same floor. */
export function ownerOf({ svcTenantId = LOCAL_TENANT, directoryPrefixes, workspaceId, executionPolicy }: Session, plugin: Caller): Caller {
  return {
    ...plugin,
    tenantId: svcTenantId,
    ...(directoryPrefixes !== undefined && { directoryPrefixes }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(executionPolicy !== undefined && { hosted: true as const }),
  }
}
