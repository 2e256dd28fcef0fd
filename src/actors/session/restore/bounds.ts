/**
 * What a restore may change for the session of a stranger: files that its tools could have changed, and no other (subsystems d.6;
 * `src/machines/permission/floor.ts`). Where a file is and what was in it stands in parts, and owners of a session may write those.
 */
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import type { ProtectedFiles } from '../../../ports/plugin.js'
import { isOfOwner } from '../../tenancy/hosted-session.js'
import { told } from './file-states.js'

type Bounded = Pick<Session, 'directory' | 'directoryPrefixes' | 'executionPolicy'>

/** Rejects with `resource.conflict` where a path is beyond reach, or protected. */
export type RestoreBounds = (session: Bounded, paths: readonly string[]) => Promise<void>

export function createRestoreBounds(protectedFiles: ProtectedFiles): RestoreBounds {
  return async (session, paths) => {
    if (session.executionPolicy === undefined) return
    const isInReach = (path: string) => isOfOwner(session, session.directory) && isWithin(session.directory, path)
    const beyond = paths.filter((path) => !isInReach(path))
    if (beyond.length > 0) throw refused(beyond, 'lies outside of the directory of the session')
    const reasons = await protectedFiles.reasons(paths)
    const guarded = paths.filter((_, at) => reasons[at] !== undefined)
    if (guarded.length > 0) throw refused(guarded, 'is protected')
  }
}

function refused(paths: readonly string[], why: string): SvcError {
  return new SvcError('resource.conflict', `Nothing was changed: ${told(paths)} ${why}.`, { paths })
}
