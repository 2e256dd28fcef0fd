/** What of a workspace layer counts: what the table permits (choice 36). The rest is told, and shown as it stands in the file. */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { isReservedKey } from './config-merge.js'
import type { Ground, Refusal } from './workspace-rules.js'
import { WORKSPACE_DOCUMENT } from './workspace-table.js'

export interface Narrowed {
  readonly document: JsonRecord
  readonly refused: readonly Refusal[]
  /** Keys that are none of their place, with their values: kept, and not used. */
  readonly inert: JsonRecord
}

/** A normalised workspace layer without what it may not set, and what was taken out. */
export function narrowWorkspace(document: JsonRecord, ground: Ground): Narrowed {
  const refused: Refusal[] = []
  const inert: Record<string, unknown> = {}
  const narrowed = WORKSPACE_DOCUMENT(document, {
    keys: [],
    ground,
    refuse: (keys, reason) => {
      refused.push({ path: keys.join('.'), reason })
      return undefined
    },
    keep: (keys, value) => {
      put(inert, keys, value)
      return undefined
    },
  })
  return { document: isRecord(narrowed) ? narrowed : {}, refused, inert }
}

/** Written in place: a workspace may say thousands of keys that nobody knows. */
function put(holder: Record<string, unknown>, [key, ...inner]: readonly string[], value: unknown): void {
  if (key === undefined || isReservedKey(key)) return
  if (inner.length === 0) {
    holder[key] = value
    return
  }
  const known = holder[key]
  const within: Record<string, unknown> = isRecord(known) ? known : {}
  holder[key] = within
  put(within, inner, value)
}
