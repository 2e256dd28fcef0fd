/** Servers of the Model Context Protocol, served by the plugin `dev.svc.mcp` (http-contract §5.10). */
import type { Runtime } from '../../actors/facades.js'
import { mcpRoutes } from '../../protocol/mcp/mcp.js'
import type { Binder } from '../bind.js'
import { bindServed } from './served.js'

export function mcpRoutesOf(bind: Binder, { plugins }: Runtime): void {
  bindServed(bind, plugins, Object.values(mcpRoutes))
}
