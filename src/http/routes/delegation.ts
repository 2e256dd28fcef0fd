/** Delegated tasks, goals and commands in the background, served by the plugins `dev.svc.subagents`, `dev.svc.goals` and `dev.svc.shell` (http-contract §5.5, §5.8). */
import type { Runtime } from '../../ports/facades.js'
import { externalRoutes } from '../../protocol/external/external.js'
import { externalSessionRoutes } from '../../protocol/external/external-sessions.js'
import { goalRoutes } from '../../protocol/session/goal.js'
import { jobRoutes } from '../../protocol/session/job.js'
import { subagentRoutes } from '../../protocol/session/subagent.js'
import type { Binder } from '../bind.js'
import { bindServed } from '../contributed/served.js'

export function delegationRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, [
    ...Object.values(subagentRoutes),
    ...Object.values(goalRoutes),
    ...Object.values(jobRoutes),
    ...Object.values(externalRoutes),
    ...Object.values(externalSessionRoutes),
  ])
}
