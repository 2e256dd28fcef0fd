/** Configuration (http-contract §5.2; subsystems b.5). */
import type { Runtime } from '../../ports/facades.js'
import { configRoutes as contracts } from '../../protocol/resource/config.js'
import type { Binder } from '../bind.js'

export function configRoutes(bind: Binder, { configs, system }: Runtime): void {
  bind.json(contracts.get, ({ directory }) => configs.show(directory))
  bind.json(contracts.update, ({ directory, body }) => configs.update(directory, body))
  bind.json(contracts.defaults, ({ directory }) => system.defaults(directory))
  bind.json(contracts.validate, ({ directory }) => configs.validate(directory))
}
