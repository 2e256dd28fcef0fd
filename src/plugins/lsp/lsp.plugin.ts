/**
 * Language servers: `dev.svc.lsp` (http-contract §2.13, §5.9; subsystems e). It tells which fit a directory, starts those that are asked, and
 * tells a model what they find in what it has changed.
 */
import type { NativePlugin } from '../../ports/plugin.js'
import { createAlarm } from '../../kernel/alarm.js'
import { LIMITS } from '../../protocol/limits.js'
import { lspRoutes } from '../../protocol/lsp/lsp.js'
import { createLru } from '../../kernel/lru.js'
import { acceptanceOperations } from './acceptances.js'
import { type ConfiguredAdapter, createAdapters } from './configured.js'
import { createClients } from './clients/clients.js'
import { askOperations } from './operations.js'
import { createProgramOf } from './programs.js'
import { createQueries } from './queries.js'
import { createStatus } from './status.js'
import { afterChange, CHANGING_TOOLS } from './tools/after-change.js'
import { lspTool } from './tools/lsp-tool.js'

const isUsable = ({ isExplicit, fault }: ConfiguredAdapter) => isExplicit && fault === undefined

export interface LspPluginOptions {
  /** Of the server: where Godot listens. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
}

export function lspPlugin({ env, version }: LspPluginOptions): NativePlugin {
  const adapters = createAdapters(env)
  let stop: () => Promise<void> = () => Promise.resolve()
  return {
    id: 'dev.svc.lsp',
    name: 'Language servers',
    capability: { id: 'svc.lsp', apiPrefix: '/v2/plugins/dev.svc.lsp' },
    eventNamespaces: ['lsp'],
    start(host) {
      const updated = createAlarm(host.effects.clock, () => host.rows.commit('process', (tx) => tx.emit('lsp.updated', {})))
      const programOf = createProgramOf(host)
      const all = createClients({
        host,
        adapters,
        programOf,
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
      const status = createStatus(host, adapters, programOf)
      const offered = createLru<string, boolean>(LIMITS.mcp.workspaces)
      const { effects, programs } = host
      const tools = [lspTool({ effects, programs, clients: all, queries, status: (directory, signal) => status(directory, signal, all) })]
      return {
        hooks: { 'tool.after': afterChange(host, queries, all) },
        hookTools: CHANGING_TOOLS,
        /** The tool is offered where servers are configured by name, or were asked. */
        async prepare(directory) {
          try {
            const isFor = all.wasAsked(directory) || adapters((await host.config(directory))['lsp']).some(isUsable)
            if (isFor === (offered.get(directory) ?? false)) return
            offered.set(directory, isFor)
            host.offersChanged()
          } catch (error) {
            host.effects.log.warn('the language servers of a directory could not be looked at', { directory, cause: String(error) })
          }
        },
        within: (directory) => ({ tools: offered.get(directory) === true ? tools : [], commands: [] }),
        operations: {
          [lspRoutes.status.id]: ({ directory, signal }) => status(directory, signal, all),
          ...askOperations(queries, all),
          ...acceptanceOperations({ host, adapters, programOf, clients: all }),
        },
      }
    },
    stop: () => stop(),
  }
}
