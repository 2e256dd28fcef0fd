/** Formatters, served by the plugin `dev.svc.files` (choice 34). */
import type { Runtime } from '../../ports/facades.js'
import { formatterRoutes } from '../../protocol/format/formatter-routes.js'
import type { Binder } from '../bind.js'
import { bindServed } from '../contributed/served.js'

export function formatterRoutesOf(bind: Binder, { plugins }: Pick<Runtime, 'plugins'>): void {
  bindServed(bind, plugins, Object.values(formatterRoutes))
}
