/** Delegated tasks, served by the plugin `dev.svc.subagents`, and commands in the background, served by `dev.svc.shell` (http-contract §5.5, §5.8). */
import type { Runtime } from '../../actors/facades.js'
import { jobRoutes } from '../../protocol/session/job.js'
import { subagentRoutes } from '../../protocol/session/subagent.js'
import type { Binder } from '../bind.js'
import { bindServed } from './served.js'

export function delegationRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, [...Object.values(subagentRoutes), ...Object.values(jobRoutes)])
}
