/** Operations of the contract that a built-in plugin serves. */
import type { Plugins } from '../../ports/plugins.js'
import type { RouteContract, Schema } from '../../protocol/route.js'
import type { Binder, Call } from '../bind.js'

/** Binds each contract to the operation of the same id. */
export function bindServed(bind: Binder, plugins: Plugins, contracts: readonly RouteContract[]): void {
  for (const contract of contracts) bind.json(contract, (call) => plugins.call(contract.id, call))
}

/** Binds a contract to an operation for the directory that the call leads to. */
export function bindServedIn(
  bind: Binder,
  plugins: Plugins,
  contract: RouteContract,
  operationId: string,
  directoryOf: (call: Call<Schema, Schema, Schema, Schema>) => Promise<string>,
): void {
  bind.json(contract, async (call) =>
    plugins.call(operationId, {
      ...call,
      // Not among what is of the object itself.
      signal: call.signal,
      directory: await directoryOf(call),
    }),
  )
}
