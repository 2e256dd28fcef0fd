/** Operations of the contract that a built-in plugin serves. */
import type { Plugins } from '../../actors/facades.js'
import type { RouteContract } from '../../protocol/route.js'
import type { Binder } from '../bind.js'

/** Binds each contract to the operation of the same id. */
export function bindServed(bind: Binder, plugins: Plugins, contracts: readonly RouteContract[]): void {
  for (const contract of contracts) bind.json(contract, (call) => plugins.call(contract.id, call))
}
