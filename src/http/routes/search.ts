/** Search in what was said, served by the plugin `dev.svc.semantic` (http-contract §2.16, §5.8). */
import type { Runtime } from '../../ports/facades.js'
import { searchRoutes } from '../../protocol/session/search.js'
import type { Binder } from '../bind.js'
import { bindServed } from '../contributed/served.js'

export function searchRoutesOf(bind: Binder, { plugins }: Pick<Runtime, 'plugins'>): void {
  bindServed(bind, plugins, Object.values(searchRoutes))
}
