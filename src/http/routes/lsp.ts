/** Language servers, served by the plugin `dev.svc.lsp` (http-contract §5.9). */
import type { Runtime } from '../../ports/facades.js'
import { LspTouchRequest, lspRoutes } from '../../protocol/lsp/lsp.js'
import type { Admission } from '../admission/admission.js'
import type { Binder } from '../bind.js'
import { bindServed, bindServedIn } from '../contributed/served.js'

const { touch, ...others } = lspRoutes

export function lspRoutesOf(bind: Binder, { plugins }: Pick<Runtime, 'plugins'>, admission: Admission): void {
  bindServed(bind, plugins, Object.values(others))
  bindServedIn(bind, plugins, touch, touch.id, async ({ caller, directory, body }) => {
    const { directory: named } = LspTouchRequest.parse(body)
    if (named === undefined) return directory
    return admission.directory(caller, /^[/~]/.test(named) ? named : `${directory}/${named}`)
  })
}
