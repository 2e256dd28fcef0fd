/**
 * Who may do what: the access class of a contract, applied to one request (threat-model T3, T4, T7;
 * subsystems d.6). The object to check is named by the contract, never guessed from the path.
 */
import type { Runtime } from '../../ports/facades.js'
import { mayUseDirectory, owns } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import type { ExecutionPolicy } from '../../protocol/session/execution-policy.js'
import { SvcError } from '../../protocol/errors.js'
import { type Access, isGuardedByLease, type RouteContract } from '../../protocol/route.js'
import type { OperationCheck } from './operations.js'

/** What a request names of the things access is decided by. */
interface Named {
  readonly params: Readonly<Record<string, string>>
  /** Query `directory`; wins over the header. */
  readonly directory: string | undefined
  readonly directoryHeader: string | undefined
  readonly scope: string | undefined
  /** Query `sessionId`. */
  readonly sessionId: string | undefined
  /** It is asked to change something. */
  readonly isChange?: boolean
}

type Carriers = Pick<Named, 'directory' | 'directoryHeader'>

export interface Admission {
  /** Throws what refuses an operation as such, whatever object it names. */
  readonly operation: OperationCheck
  /** How agents work for hosted callers, as of now. */
  execution(): Promise<ExecutionPolicy>
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

export function createAdmission(
  { sessions, interactions, system }: Pick<Runtime, 'sessions' | 'interactions' | 'system'>,
  operation: OperationCheck = () => undefined,
): Admission {
  function session(caller: Caller, sessionId: string, isChange = false): void {
    const owner = sessions.owner(sessionId)
    if (owner === undefined) throw new SvcError('resource.not_found', 'The session does not exist.')
    if (!owns(caller, owner) || (isChange && caller.hosted === true && owner.isHosted !== true))
      throw new SvcError('auth.session_forbidden')
  }

  async function directory(caller: Caller, path: string): Promise<string> {
    const canonical = await system.canonicalDirectory(path)
    return permitted(caller, canonical)
  }

  /** A header that is overruled must be allowed all the same (T3). */
  function checkOverruled(caller: Caller, { directory: query, directoryHeader: header }: Carriers): Promise<unknown> | undefined {
    return query !== undefined && header !== undefined && caller.directoryPrefixes !== undefined ? directory(caller, header) : undefined
  }

  function named(caller: Caller, carriers: Carriers): Promise<string> | undefined {
    const path = carriers.directory ?? carriers.directoryHeader
    if (path === undefined) return undefined
    const overruled = checkOverruled(caller, carriers)
    return overruled === undefined ? directory(caller, path) : overruled.then(() => directory(caller, path))
  }

  /** Waits for what has to be looked at, and for nothing else. */
  function directoryOf(caller: Caller, of: Named): string | Promise<string> {
    if (of.scope !== 'installation') return named(caller, of) ?? permitted(caller, system.workingDirectory)
    const overruled = checkOverruled(caller, of)
    const installation = () => permitted(caller, system.installationDirectory)
    return overruled === undefined ? installation() : overruled.then(installation)
  }

  async function admit(access: Access, caller: Caller, of: Named): Promise<string> {
    if (of.sessionId !== undefined && sessions.owner(of.sessionId) !== undefined) session(caller, of.sessionId, of.isChange)
    switch (access.class) {
      case 'open':
      case 'caller':
        return ''
      case 'directory':
        if (access.operator === true) requireOperator(caller)
        if (access.local === true && caller.authenticated) requireOperator(caller)
        if (access.guardsInstallation === true && of.scope === 'installation' && caller.authenticated) requireOperator(caller)
        return directoryOf(caller, of)
      case 'session':
        session(caller, of.params[access.param] ?? '', of.isChange)
        return ''
      case 'interaction': {
        const owner = interactions.owner(of.params[access.param] ?? '')
        if (owner !== undefined) session(caller, owner, of.isChange)
        return ''
      }
      case 'operator':
        requireOperator(caller)
        return ''
      case 'local':
        if (caller.authenticated && !caller.operator && caller.manages !== true)
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

  return {
    operation,
    admit,
    directory,
    namedDirectory: async (caller, carriers) => named(caller, carriers),
    control,
    session,
    execution: () => system.hostedExecution(),
  }
}

/** Operator-only operations need a credential: nobody is the operator in trusted mode. */
function requireOperator(caller: Caller): void {
  if (!caller.authenticated) throw new SvcError('management.authentication_required')
  if (caller.manages === true) return
  if (!caller.operator) throw new SvcError('request.forbidden', 'This operation is for the local operator only.')
}

function permitted(caller: Caller, canonical: string): string {
  if (!mayUseDirectory(caller, canonical)) throw new SvcError('auth.directory_forbidden')
  return canonical
}
