/** Signing in at providers (http-contract §5.3). No answer has a secret in it. */
import type { Runtime } from '../../ports/facades.js'
import { signInRoutes as contracts } from '../../protocol/provider/sign-in.js'
import type { Binder } from '../bind.js'

export function signInRoutes(bind: Binder, { signIns }: Runtime): void {
  bind.json(contracts.methods, ({ directory }) => signIns.methods(directory))
  bind.json(contracts.usage, ({ query }) => signIns.usage(query.workspaceId))
  bind.json(contracts.authorize, ({ caller, params, query, body }) =>
    signIns.authorize(caller, params.provider_id, query.workspaceId, body),
  )
  bind.json(contracts.callback, ({ caller, params, query, body, signal }) =>
    signIns.callback(caller, params.provider_id, query.workspaceId, body, signal),
  )
}
