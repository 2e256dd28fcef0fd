/** Does what a button of a plugin says, by the operations of the API: approvals and switches are configuration of the installation. */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'
import type { Connection } from './connection.js'
import { approvalOf, type Move, otherApprovals, recordsOf } from './plugin-moves.js'

interface Entry {
  readonly enabled?: unknown
  readonly options?: { readonly trust?: unknown }
}

const OVERRIDDEN = 'It was written, but another configuration file of the installation overrides it.'

export interface PluginActions {
  act(plugin: InspectedPlugin, act: NonNullable<Move['act']>): Promise<void>
}

/** `configuration` is the directory of the configuration of the installation. */
export function pluginActions(connection: Connection, configuration: string): PluginActions {
  const path = `/v2/config?directory=${encodeURIComponent(configuration)}`
  /** Answers the entry as it is in effect afterwards. */
  async function configure(id: string, entry: object): Promise<Entry> {
    return entryIn(await connection.patch(path, { plugins: { [id]: entry } }), id)
  }

  async function switchTo(id: string, enabled: boolean | null): Promise<void> {
    const { enabled: is } = await configure(id, { enabled })
    if (enabled !== null && is !== enabled) throw new Error(OVERRIDDEN)
  }

  async function trust(plugin: InspectedPlugin, records: readonly unknown[]): Promise<void> {
    const { pluginId: id } = plugin
    const others = otherApprovals(plugin, entryIn(await connection.text(path), id).options?.trust)
    const { options } = await configure(id, { options: { trust: [...others, ...records] } })
    if (otherApprovals(plugin, options?.trust).length + records.length !== recordsOf(options?.trust).length) throw new Error(OVERRIDDEN)
  }

  /** Makes the server look at the configuration now, and not when it notices. */
  async function look({ origin, workspace }: InspectedPlugin): Promise<void> {
    if (origin === 'native') await connection.text('/v2/plugins')
    else await connection.text(`/v2/plugins/lifecycle${workspace === undefined ? '' : `?directory=${encodeURIComponent(workspace)}`}`)
  }

  return {
    async act(plugin, act) {
      const { pluginId: id } = plugin
      if (act === 'approve') await trust(plugin, [approvalOf(plugin)])
      if (act === 'withdraw') await trust(plugin, [])
      if (act === 'enable') await switchTo(id, true)
      if (act === 'disable') await switchTo(id, false)
      if (act === 'reload') {
        const { enabled } = entryIn(await connection.text(path), id)
        await switchTo(id, false)
        try {
          await look(plugin)
        } finally {
          await switchTo(id, typeof enabled === 'boolean' ? enabled : null)
        }
      }
      await look(plugin)
    },
  }
}

/** The entry of a plugin in a configuration document; it may be a mere switch. */
function entryIn(text: string, id: string): Entry {
  // The server answers what its contract says.
  const { plugins = {} } = JSON.parse(text) as { plugins?: Readonly<Record<string, Entry | boolean>> }
  const entry = plugins[id]
  return typeof entry === 'object' ? entry : { enabled: entry }
}
