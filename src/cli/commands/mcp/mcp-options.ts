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

export interface McpAddOptions extends PlaceOptions {
  readonly action: 'add'
  readonly name: string
  /** An address, or a program and its arguments. */
  readonly target: readonly [string, ...string[]]
  /** `NAME=value`, of a remote one. */
  readonly headers: readonly string[]
  /** `NAME=value`, of a local one. */
  readonly environment: readonly string[]
}

export interface McpRemoveOptions extends PlaceOptions {
  readonly action: 'remove'
  readonly name: string
}

export interface McpSignOptions extends PlaceOptions {
  readonly action: 'login' | 'logout'
  readonly name: string
  /** The address is printed alone; no browser is opened. */
  readonly isPrinted: boolean
}

export type McpOptions = ({ readonly action: 'list' } & McpListOptions) | McpActOptions | McpAddOptions | McpRemoveOptions | McpSignOptions
