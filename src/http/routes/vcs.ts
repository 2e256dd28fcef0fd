/** Version control, served by the plugin `dev.svc.vcs` (http-contract §5.8). */
import type { Runtime } from '../../ports/facades.js'
import { SvcError } from '../../protocol/errors.js'
import { SessionDiffParams, sessionDiffRoute, VcsApplyRequest, vcsRoutes } from '../../protocol/vcs/vcs.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'
import { bindServed, bindServedIn } from '../contributed/served.js'

const { rawDiff, apply, ...others } = vcsRoutes

export function vcsRoutesOf(bind: Binder, { plugins, sessions }: Runtime, admission: Admission): void {
  bindServed(bind, plugins, Object.values(others))
  bind.raw(rawDiff, async (call, _request, reply) => {
    const bytes = await plugins.call(rawDiff.id, call)
    if (!(bytes instanceof Uint8Array)) throw new SvcError('server.internal', 'A patch is bytes.')
    reply.type(`${rawDiff.success.mediaType}; charset=utf-8`).send(bytes)
  })
  bindServedIn(bind, plugins, apply, apply.id, async ({ caller, directory, body }) => {
    const { directory: named } = VcsApplyRequest.parse(body)
    if (named === undefined) return directory
    return admission.directory(caller, /^[/~]/.test(named) ? named : `${directory}/${named}`)
  })
  bindServedIn(
    bind,
    plugins,
    sessionDiffRoute,
    others.diff.id,
    async ({ params }) => sessions.get(SessionDiffParams.parse(params).session_id).directory,
  )
}
