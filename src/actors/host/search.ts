/** What somebody may find: the index is behind what was said, so every hit is looked at as it is now (threat-model T3, T4). */
import { type Caller, isOfWorkspace, LOCAL_TENANT, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Rows } from '../session/state/core.js'
import type { SearchDoor, SearchViewer } from '../../ports/doors.js'

/** Of hits that are asked for besides, in the place of those that are gone meanwhile. */
const SPARE = 20

export function createSearchDoor({ store, owners }: Pick<Rows, 'store' | 'owners'>): SearchDoor {
  const { search } = store

  function check(caller: Caller, sessionId: string): void {
    const session = store.sessions.get(sessionId)
    if (session === undefined) throw new SvcError('resource.not_found', 'There is no such session.', { sessionId })
    if ((session.svcTenantId ?? LOCAL_TENANT) !== caller.tenantId || !isOfWorkspace(caller, session.workspaceId))
      throw new SvcError('auth.session_forbidden', undefined, { sessionId })
    if (!mayUseDirectory(caller, session.directory)) throw new SvcError('auth.directory_forbidden', undefined, { sessionId })
  }

  function visible({ caller, sessionId }: SearchViewer): readonly string[] | undefined {
    if (sessionId !== undefined) return [sessionId]
    const { tenantId, directoryPrefixes: prefixes, workspaceId } = caller
    if (tenantId === LOCAL_TENANT && prefixes === undefined && workspaceId === undefined) return undefined
    return store.sessions
      .list({ tenantId, prefixes, workspaceId, includeArchived: true, limit: LIMITS.search.sessions })
      .map(({ id }) => id)
  }

  return {
    open: () => search.open(),
    step: (upTo) => search.step(upTo),
    head: () => search.head(),
    discard: () => search.discard(),
    close: () => search.close(),
    useVectors: (model) => search.useVectors(model),
    unembedded: (limit) => search.unembedded(limit),
    putVectors: (entries) => search.putVectors(entries),
    *parts(query, limit, viewer, vector) {
      if (viewer.sessionId !== undefined) check(viewer.caller, viewer.sessionId)
      const found = yield* search.parts(query, limit + SPARE, visible(viewer), vector)
      return found?.filter((hit) => owners.mayUse(viewer.caller, hit.sessionId) && search.isShown(hit.messageId)).slice(0, limit)
    },
  }
}
