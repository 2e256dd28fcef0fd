/** Scheduled workflows, served by the plugin `dev.svc.workflows` (http-contract §5.12). */
import type { Runtime } from '../../ports/facades.js'
import { workflowRoutes as contracts } from '../../protocol/workflow/workflow-routes.js'
import type { Binder } from '../bind.js'
import { bindServed } from '../contributed/served.js'

export function workflowRoutes(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, Object.values(contracts))
}
