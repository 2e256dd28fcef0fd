/** Language servers: `dev.svc.lsp` (http-contract §2.13, §5.9; subsystems e). It tells which fit a directory; it starts none. */
import type { NativePlugin } from '../../actors/plugin/native/native.js'
import { lspRoutes } from '../../protocol/lsp/lsp.js'
import { statusOf } from './status.js'

export function lspPlugin(): NativePlugin {
  return {
    id: 'dev.svc.lsp',
    name: 'Language servers',
    capability: { id: 'svc.lsp', apiPrefix: '/v2/plugins/dev.svc.lsp' },
    start: (host) => ({
      operations: { [lspRoutes.status.id]: ({ directory, signal }) => statusOf(host, directory, signal) },
    }),
  }
}
