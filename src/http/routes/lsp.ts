/** Language servers, served by the plugin `dev.svc.lsp` (http-contract §5.9). */
import type { Runtime } from '../../actors/facades.js'
import { lspRoutes } from '../../protocol/lsp/lsp.js'
import type { Binder } from '../bind.js'
import { bindServed } from './served.js'

export function lspRoutesOf(bind: Binder, { plugins }: Pick<Runtime, 'plugins'>): void {
  bindServed(bind, plugins, Object.values(lspRoutes))
}
