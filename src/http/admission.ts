/**
 * Who may do what: the access class of a contract, applied to one request (threat-model T3, T4, T7;
 * subsystems d.6). The object to check is named by the contract, never guessed from the path.
 */
import type { Runtime } from '../actors/facades.js'
import { mayUseDirectory } from '../protocol/caller.js'
import type { Caller } from '../protocol/caller.js'
import { SvcError } from '../protocol/errors.js'
import type { Access } from '../protocol/route.js'

/** What a request names of the things access is decided by. */
export interface Named {
  readonly params: Readonly<Record<string, string>>
  /** Query `directory`; wins over the header. */
  readonly directory: string | undefined
  readonly directoryHeader: string | undefined
  readonly scope: string | undefined
  /** Query `sessionId`. */
  readonly sessionId: string | undefined
}

export interface Admission {
  /** Answers the canonical directory of a `directory` operation, '' for every other; throws what refuses the caller. */
  admit(access: Access, caller: Caller, named: Named): Promise<string>
  /** Canonical form of a directory the caller may use; `auth.directory_forbidden`, `request.invalid_directory`. */
  directory(caller: Caller, path: string): Promise<string>
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

  async function directoryOf(caller: Caller, { directory: query, directoryHeader: header, scope }: Named): Promise<string> {
    const named = query ?? header
    if (query !== undefined && header !== undefined && caller.directoryPrefixes !== undefined) await directory(caller, header)
    if (scope === 'installation') return permitted(caller, system.installationDirectory)
    return named === undefined ? permitted(caller, system.workingDirectory) : directory(caller, named)
  }

  async function admit(access: Access, caller: Caller, named: Named): Promise<string> {
    if (named.sessionId !== undefined && sessions.owner(named.sessionId) !== undefined) session(caller, named.sessionId)
    switch (access.class) {
      case 'open':
      case 'caller':
        return ''
      case 'directory':
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
    }
  }

  return { admit, directory, session }
}

/** Operator-only operations need a credential: nobody is the operator in trusted mode. */
function requireOperator(caller: Caller): void {
  if (!caller.authenticated) throw new SvcError('auth.invalid_token', 'This operation needs the token of the local operator.')
  if (!caller.operator) throw new SvcError('request.forbidden', 'This operation is for the local operator only.')
}

function permitted(caller: Caller, canonical: string): string {
  if (!mayUseDirectory(caller, canonical)) throw new SvcError('auth.directory_forbidden')
  return canonical
}
