/** What `svc mcp` was asked for. */
import type { PlaceOptions } from '../models/models-options.js'

export interface McpOptions extends PlaceOptions {
  /** undefined = all of them. */
  readonly name: string | undefined
  readonly connect: boolean
}
