/** What `svc mcp` was asked for. */
import type { PlaceOptions } from '../models/models-options.js'

export interface McpListOptions extends PlaceOptions {
  /** undefined = all of them. */
  readonly name: string | undefined
  readonly connect: boolean
}

export interface McpActOptions extends PlaceOptions {
  readonly action: 'accept' | 'revoke'
  readonly name: string
}

export type McpOptions = ({ readonly action: 'list' } & McpListOptions) | McpActOptions
