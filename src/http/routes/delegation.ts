/** Delegated tasks, served by the plugin `dev.svc.subagents` (http-contract §5.8). */
import type { Runtime } from '../../actors/facades.js'
import { subagentRoutes } from '../../protocol/session/subagent.js'
import type { Binder } from '../bind.js'
import { bindServed } from './served.js'

export function delegationRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, Object.values(subagentRoutes))
}
