/** Packages as somebody offers them to `svc plugin add`: a file or a folder, and what may come of it. */
import type { Choices } from './random.js'

export interface Offered {
  readonly name: string
  /** `taken`: it is added, as nothing of it is wrong or as nothing runs before it is approved. Else the reason for which it is refused. */
  readonly outcome: 'taken' | RegExp
  readonly make: (choices: Choices) => Content
}

type Content =
  | { readonly kind: 'archive'; readonly bytes: Uint8Array }
  /** Writes it into an empty folder. */
  | { readonly kind: 'folder'; readonly write: (root: string) => void }

export const ID = 'dev.example.offered'
export const LUA =
  'return { tools = { { id = "offered", description = "It.", parameters = { type = "object" }, execute = function() return "ok" end } } }\n'

export function manifestOf(agent: object = {}, rest: object = {}): object {
  return { id: ID, name: 'Offered', version: '1.0.0', apiVersion: 1, agent: { runtime: 'lua', entrypoint: 'agent.lua', ...agent }, ...rest }
}
