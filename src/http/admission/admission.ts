/**
 * Who may do what: the access class of a contract, applied to one request (threat-model T3, T4, T7;
 * subsystems d.6). The object to check is named by the contract, never guessed from the path.
 */
import type { Runtime } from '../../ports/facades.js'
import { mayUseDirectory } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { type Access, isGuardedByLease, type RouteContract } from '../../protocol/route.js'

/** What a request names of the things access is decided by. */
interface Named {
  readonly params: Readonly<Record<string, string>>
  /** Query `directory`; wins over the header. */
  readonly directory: string | undefined
  readonly directoryHeader: string | undefined
  readonly scope: string | undefined
  /** Query `sessionId`. */
  readonly sessionId: string | undefined
}

type Carriers = Pick<Named, 'directory' | 'directoryHeader'>

export interface Admission {
  /** Answers the canonical directory of a `directory` operation, '' for every other; throws what refuses the caller. */
  admit(access: Access, caller: Caller, named: Named): Promise<string>
  /** Canonical form of a directory the caller may use; `auth.directory_forbidden`, `request.invalid_directory`. */
  directory(caller: Caller, path: string): Promise<string>
  /** The directory a call names by query or header, as `directory` answers it; undefined when it names none. */
  namedDirectory(caller: Caller, named: Carriers): Promise<string | undefined>
  /** Throws `resource.conflict` where the operation changes a session that somebody else controls. */
  control(contract: Pick<RouteContract, 'method' | 'access'>, caller: Caller, params: Named['params']): void
  /** Throws `resource.not_found` for an unknown session, `auth.session_forbidden` for somebody else's. */
  session(caller: Caller, sessionId: string): void
}

export function createAdmission({ sessions, interactions, system }: Pick<Runtime, 'sessions' | 'interactions' | 'system'>): Admission {
  function session(caller: Caller, sessionId: string): void {
    const owner = sessions.owner(sessionId)
    if (owner === undefined) throw new SvcError('resource.not_found', 'The session does not exist.')
    if (owner.tenantId !== caller.tenantId || !mayUseDirectory(caller, owner.directory)) throw new SvcError('auth.session_forbidden')
  }

  async function directory(caller: Caller, path: string): Promise<string> {
    const canonical = await system.canonicalDirectory(path)
    return permitted(caller, canonical)
  }

  /** A header that is overruled must be allowed all the same (T3). */
  async function checkOverruled(caller: Caller, { directory: query, directoryHeader: header }: Carriers): Promise<void> {
    if (query !== undefined && header !== undefined && caller.directoryPrefixes !== undefined) await directory(caller, header)
  }

  async function namedDirectory(caller: Caller, carriers: Carriers): Promise<string | undefined> {
    await checkOverruled(caller, carriers)
    const path = carriers.directory ?? carriers.directoryHeader
    return path === undefined ? undefined : directory(caller, path)
  }

  async function directoryOf(caller: Caller, named: Named): Promise<string> {
    if (named.scope !== 'installation') return (await namedDirectory(caller, named)) ?? permitted(caller, system.workingDirectory)
    await checkOverruled(caller, named)
    return permitted(caller, system.installationDirectory)
  }

  async function admit(access: Access, caller: Caller, named: Named): Promise<string> {
    if (named.sessionId !== undefined && sessions.owner(named.sessionId) !== undefined) session(caller, named.sessionId)
    switch (access.class) {
      case 'open':
      case 'caller':
        return ''
      case 'directory':
        if (access.operator === true) requireOperator(caller)
        if (access.local === true && caller.authenticated) requireOperator(caller)
        if (access.guardsInstallation === true && named.scope === 'installation' && caller.authenticated) requireOperator(caller)
        return directoryOf(caller, named)
      case 'session':
        session(caller, named.params[access.param] ?? '')
        return ''
      case 'interaction': {
        const owner = interactions.owner(named.params[access.param] ?? '')
        if (owner !== undefined) session(caller, owner)
        return ''
      }
      case 'operator':
        requireOperator(caller)
        return ''
      case 'local':
        if (caller.authenticated && !caller.operator)
          throw new SvcError('feature.not_implemented', 'This is for the operator of this server alone: it is about more than one tenant.')
        return ''
    }
  }

  function control(contract: Pick<RouteContract, 'method' | 'access'>, caller: Caller, params: Named['params']): void {
    const { access } = contract
    if (!isGuardedByLease(contract) || !('param' in access)) return
    const named = params[access.param] ?? ''
    const sessionId = access.class === 'session' ? named : interactions.owner(named)
    if (sessionId !== undefined) sessions.expectControl(caller, sessionId)
  }

  return { admit, directory, namedDirectory, control, session }
}

/** Operator-only operations need a credential: nobody is the operator in trusted mode. */
function requireOperator(caller: Caller): void {
  if (!caller.authenticated) throw new SvcError('management.authentication_required')
  if (!caller.operator) throw new SvcError('request.forbidden', 'This operation is for the local operator only.')
}

function permitted(caller: Caller, canonical: string): string {
  if (!mayUseDirectory(caller, canonical)) throw new SvcError('auth.directory_forbidden')
  return canonical
}
