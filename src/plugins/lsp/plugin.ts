/**
 * Language servers: `dev.svc.lsp` (http-contract §2.13, §5.9; subsystems e). It tells which fit a directory, starts those that are asked, and
 * tells a model what they find in what it has changed.
 */
import type { NativePlugin } from '../../actors/plugin/native/native.js'
import { createAlarm } from '../../protocol/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import { lspRoutes } from '../../protocol/lsp/lsp.js'
import { createClients } from './clients/clients.js'
import { askOperations } from './operations.js'
import { createQueries } from './queries.js'
import { statusOf } from './status.js'

export function lspPlugin({ version }: { readonly version: string }): NativePlugin {
  let stop: () => Promise<void> = () => Promise.resolve()
  return {
    id: 'dev.svc.lsp',
    name: 'Language servers',
    capability: { id: 'svc.lsp', apiPrefix: '/v2/plugins/dev.svc.lsp' },
    eventNamespaces: ['lsp'],
    start(host) {
      const updated = createAlarm(host.effects.clock, () => host.rows.commit('process', (tx) => tx.emit('lsp.updated', {})))
      const all = createClients({
        host,
        version,
        onDiagnostics() {
          if (!updated.isSet) updated.set(LIMITS.lsp.updatedPause)
        },
      })
      stop = async () => {
        updated.end()
        await all.stop()
      }
      const queries = createQueries(host, all)
      return {
        operations: {
          [lspRoutes.status.id]: ({ directory, signal }) => statusOf(host, directory, signal, all),
          ...askOperations(queries, all),
        },
      }
    },
    stop: () => stop(),
  }
}
