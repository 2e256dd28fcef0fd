/** What a generation hands the registry, whole (laws §10). */
import type { Door } from './door.js'
import type { Contributions } from '../../../ports/plugin.js'
import type { Reach } from '../../../ports/view.js'

export interface HookReport {
  readonly name: string
  readonly failure: string | undefined
}

export interface Publication {
  readonly pluginId: string
  readonly name: string
  readonly version: string
  /** Built in: first in every order. */
  readonly internal: boolean
  readonly generation: number
  readonly reach: Reach
  /** The workspace brought it, and may switch it off as a whole; what it did not bring keeps its hooks. */
  readonly isOfWorkspace?: boolean
  /** Ids of plugins that come before it in every order. */
  readonly dependencies?: readonly string[]
  readonly door: Door
  readonly contributions: Contributions
  /** Hears how each of the plugin's hooks fares: undefined = well, else why not. */
  onHook(report: HookReport): void
}
