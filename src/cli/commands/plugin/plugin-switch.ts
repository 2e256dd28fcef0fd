/** `svc plugin disable` and `enable`: one switch in the configuration of the installation. */
import { SvcError } from '../../../protocol/errors.js'
import { REGISTRY_ID } from '../../../protocol/plugin/plugin.js'
import type { SwitchOptions } from './plugin-arguments.js'
import { openPluginPlace } from './plugin-place.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Writes the switch; throws when something else keeps the plugin switched off. */
export async function switchPlugin(enabled: boolean, { id, directory, json }: SwitchOptions): Promise<number> {
  if (!REGISTRY_ID.test(id)) throw new SvcError('request.invalid', `"${id}" is not the id of a plugin, such as dev.example.hello`)
  const place = await openPluginPlace(directory)
  const entries = await place.configure({ plugins: { [id]: { enabled } } })
  if (entries.isDisabled(id) === enabled) {
    throw new SvcError(
      'resource.conflict',
      enabled
        ? `${id} is switched off elsewhere too: by a pattern, by another configuration file, or by ${place.workspace}`
        : `${id} is still on: a stronger configuration file of the installation says so`,
    )
  }
  if (json) writeOut(`${jsonText({ id, enabled })}\n`)
  else writeOut(`${id} is ${enabled ? 'enabled' : 'disabled'}\n`)
  return 0
}
