/** Plugin packages and what they contribute (http-contract §5.8). */
import type { Runtime } from '../../ports/facades.js'
import { API } from '../../protocol/api.js'
import { pluginRoutes as contracts } from '../../protocol/plugin/plugin.js'
import { pluginSettingsRoutes as settings } from '../../protocol/plugin/plugin-settings.js'
import type { Binder } from '../bind.js'

export function pluginRoutes(bind: Binder, { plugins }: Runtime): void {
  bind.json(contracts.list, ({ directory }) => plugins.list(directory))
  bind.json(contracts.lifecycle, ({ directory }) => plugins.lifecycle(directory))
  bind.json(contracts.manifest, ({ directory, params }) => plugins.manifest(directory, params.plugin_id))
  bind.json(settings.get, ({ directory, params }) => plugins.settings(directory, params.plugin_id))
  bind.json(settings.setSecret, ({ directory, params: { plugin_id, alias }, body: { value } }) =>
    plugins.giveSecret(directory, plugin_id, { alias, value }),
  )
  bind.json(settings.removeSecret, ({ directory, params: { plugin_id, alias } }) => plugins.takeSecret(directory, plugin_id, alias))
  const { params: _named, ...manifest } = contracts.manifest
  for (const pluginId of servedPlugins()) {
    bind.json({ ...manifest, path: `/v2/plugins/${pluginId}/manifest` }, ({ directory }) => plugins.manifest(directory, pluginId))
  }
}

/** Plugins with operations of the contract: there `manifest` could be the id of something of theirs, and is not. */
function servedPlugins(): Set<string> {
  return new Set(API.flatMap(({ path }) => /^\/v2\/plugins\/(dev\.svc\.[^/]+)/.exec(path)?.[1] ?? []))
}
