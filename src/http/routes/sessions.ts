/** Sessions (http-contract §5.5). */
import type { Runtime } from '../../ports/facades.js'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { CREATE_EXTERNAL } from '../../protocol/external/external-sessions.js'
import { sharingRoutes as sharing } from '../../protocol/session/sharing.js'
import { Session, sessionRoutes as contracts } from '../../protocol/session/session.js'
import { undoRoutes } from '../../protocol/session/undo.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'

export function sessionRoutes(bind: Binder, { sessions, plugins }: Runtime, admission: Admission): void {
  bind.json(contracts.list, async ({ caller, query, headers }) => {
    const directory = await filterDirectory(admission, caller, query.directory ?? headers['x-svc-directory'])
    return sessions.list(caller, { ...query, directory })
  })
  bind.json(contracts.create, async (call) => {
    const { caller, directory, body } = call
    const isExternal = body.externalProvider !== undefined || body.externalOptions !== undefined
    return isExternal ? Session.parse(await plugins.call(CREATE_EXTERNAL, call)) : sessions.create(caller, directory, body)
  })
  bind.json(contracts.status, ({ caller }) => sessions.status(caller))
  bind.json(contracts.get, ({ params }) => sessions.get(params.session_id))
  bind.json(contracts.update, ({ caller, params, body }) => sessions.update(caller, params.session_id, body))
  bind.json(contracts.delete, ({ caller, params, query }) =>
    sessions.delete(caller, params.session_id, { keepsForks: query.keepForks === 'true' }),
  )
  bind.json(contracts.children, ({ params }) => sessions.children(params.session_id))
  bind.json(contracts.runtime, ({ params }) => sessions.runtime(params.session_id))
  bind.json(contracts.todos, ({ params }) => sessions.todos(params.session_id))
  bind.json(sharing.fork, ({ caller, params, body }) => sessions.fork(params.session_id, body, caller))
  bind.json(sharing.directoryOptions, ({ caller, params, query }) => sessions.directoryOptions(caller, params.session_id, query))
  bind.json(sharing.participants, ({ params }) => sessions.participants(params.session_id))
  bind.json(sharing.control, ({ params }) => sessions.control(params.session_id))
  bind.json(sharing.claimControl, ({ caller, params, body }) => sessions.claimControl(caller, params.session_id, body))
  bind.json(sharing.releaseControl, ({ caller, params, query }) =>
    sessions.releaseControl(caller, params.session_id, query.expectedRevision),
  )
  bind.json(undoRoutes.undo, ({ params, body }) => sessions.undo(params.session_id, body))
  bind.json(undoRoutes.redo, ({ params, body }) => sessions.redo(params.session_id, body))
  bind.json(undoRoutes.revert, ({ params, body }) => sessions.revert(params.session_id, body))
  bind.json(undoRoutes.unrevert, ({ params }) => sessions.unrevert(params.session_id))
  bind.json(undoRoutes.undoTree, ({ params }) => sessions.undoTree(params.session_id))
  bind.json(contracts.pin, ({ params, body }) => sessions.pin(params.session_id, body.pinned))
}

/** Canonical form of a filter; a directory that is gone still finds the sessions that were made in it. */
export async function filterDirectory(admission: Admission, caller: Caller, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  try {
    return await admission.directory(caller, path)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'request.invalid_directory') return path
    throw error
  }
}
