/** What the outside is told of a package: one of the eleven names of plugin-protocol §3.1. */
import type { StateValueFrom } from 'xstate'
import { PackageState } from '../../protocol/plugin/plugin.js'
import type { packageMachine } from './package.machine.js'

/** The innermost state of the machine; undefined while the package is leaving, because then it has none of the names. */
export function packageStateOf({ value }: { readonly value: StateValueFrom<typeof packageMachine> }): PackageState | undefined {
  return PackageState.safeParse(innermost(value)).data
}

/** No two states are active side by side. */
function innermost(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? innermost(Object.values(value)[0]) : value
}
