/** Plugin packages and what they contribute (http-contract §5.8). */
import type { Runtime } from '../../actors/facades.js'
import { pluginRoutes as contracts } from '../../protocol/plugin.js'
import type { Binder } from '../bind.js'

export function pluginRoutes(bind: Binder, { plugins }: Runtime): void {
  bind.json(contracts.list, ({ directory }) => plugins.list(directory))
  bind.json(contracts.lifecycle, ({ directory }) => plugins.lifecycle(directory))
  bind.json(contracts.manifest, ({ directory, params }) => plugins.manifest(directory, params.plugin_id))
}
