/** What a generation hands the registry, whole (architecture §10). */
import type { Door } from './door.js'
import type { Contributions } from './native.js'
import type { Reach } from './view.js'

export interface Publication {
  readonly pluginId: string
  readonly name: string
  readonly version: string
  /** Built in: first in every order. */
  readonly internal: boolean
  readonly generation: number
  readonly reach: Reach
  readonly door: Door
  readonly contributions: Contributions
  /** Hears how the plugin's hooks fare: undefined = well, else why not. */
  onHook(failure: string | undefined): void
}
