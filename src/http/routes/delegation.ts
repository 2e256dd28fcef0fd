/** Delegated tasks and goals, served by the plugins `dev.svc.subagents` and `dev.svc.goals` (http-contract §5.8). */
import type { Runtime } from '../../actors/facades.js'
import { goalRoutes } from '../../protocol/session/goal.js'
import { subagentRoutes } from '../../protocol/session/subagent.js'
import type { Binder } from '../bind.js'
import { bindServed } from './served.js'

export function delegationRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, [...Object.values(subagentRoutes), ...Object.values(goalRoutes)])
}
