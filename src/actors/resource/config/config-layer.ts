/** One configuration text into one layer: parsed, brought into flat form and checked for types (subsystems b.1, b.3). */
import { AgentDocument } from '../../../protocol/resource/agent-config.js'
import { firstFault, isLarge } from '../../../protocol/text/first-fault.js'
import { asDeclared } from '../../../protocol/text/leniency.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { recordAt, RESERVED_KEY } from './config-merge.js'
import { normaliseLayer } from './config-normalise.js'
import { keyLocator, locate, parseJsonc, type Position } from './config-parse.js'
import { findUnsupported } from './config-unsupported.js'

export type LayerRead =
  | {
      readonly ok: true
      readonly document: JsonRecord
      /** The first of its keys that nothing is done with. */
      readonly unsupported: readonly UnsupportedKey[]
      /** Where providers name their adapter, by their id. */
      readonly adapters: ReadonlyMap<string, Position>
    }
  /** `path` is dotted and empty when the text as a whole is at fault. */
  | { readonly ok: false; readonly message: string; readonly path: string; readonly position: Position }

export interface UnsupportedKey {
  /** Dotted. */
  readonly path: string
  readonly reason: string
  readonly position: Position
}

/** Keys of one file whose place is told. */
const MAX_PLACED = 64
/** What a file may define many of, and how many of each. */
const LISTS = ['agent', 'command', 'provider', 'permission', 'instructions']
const MAX_DEFINITIONS = 1024

/** Type errors that are named beside the first. */
const MORE_ERRORS = 4

/** Reads the text of a configuration file. */
export function readLayer(text: string, maxValues?: number): LayerRead {
  return check(text, normaliseLayer, maxValues)
}

/** Reads the text of an `mcp.json`: `{ "mcp": { … } }` or the bare map of servers. */
export function readMcpLayer(text: string, maxValues?: number): LayerRead {
  return check(text, (document) => ({ mcp: isRecord(document['mcp']) ? document['mcp'] : document }), maxValues)
}

/** The first type error of a flat document, which names some more of them, or undefined. */
export function findTypeError(document: JsonRecord): { readonly path: readonly (string | number)[]; readonly message: string } | undefined {
  const crowded = LISTS.find((key) => sizeAt(document, key) > MAX_DEFINITIONS)
  if (crowded !== undefined) return { path: [crowded], message: `has more than ${MAX_DEFINITIONS} entries` }
  const fault = isLarge(document) ? firstFault(AgentDocument, document) : undefined
  if (fault !== undefined)
    return { path: fault.path.map((step) => (typeof step === 'number' ? step : String(step))), message: fault.message }
  const checked = AgentDocument.safeParse(document)
  if (checked.success) return undefined
  const [issue, ...others] = checked.error.issues
  const path = (issue?.path ?? []).map((segment) => (typeof segment === 'number' ? segment : String(segment)))
  const more = others.slice(0, MORE_ERRORS).map((each) => `; "${each.path.join('.')}": ${each.message}`)
  return { path, message: `${issue?.message ?? 'is not valid'}${more.join('')}` }
}

function sizeAt(document: JsonRecord, key: string): number {
  const value = document[key]
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function check(text: string, shape: (document: JsonRecord) => JsonRecord, maxValues?: number): LayerRead {
  const parsed = parseJsonc(text, maxValues)
  if (!parsed.ok) return { ok: false, message: parsed.message, path: '', position: parsed.position }
  const document = asDeclared(AgentDocument, shape(parsed.value)) as JsonRecord
  const error = findTypeError(document)
  if (error === undefined) {
    const { unsupported, adapters } = places(text, document)
    const reserved = parsed.reserved.map((key): UnsupportedKey => ({ ...key, reason: RESERVED_KEY }))
    return { ok: true, document, unsupported: [...reserved, ...unsupported], adapters }
  }
  return { ok: false, message: error.message, path: error.path.join('.'), position: locate(text, error.path) }
}

function places(text: string, document: JsonRecord) {
  const unsupported = findUnsupported(document).slice(0, MAX_PLACED)
  const named = Object.entries(recordAt(document, 'provider')).filter(
    ([, provider]) => isRecord(provider) && Object.hasOwn(provider, 'npm'),
  )
  if (unsupported.length + named.length === 0) return { unsupported: [], adapters: new Map<string, Position>() }
  const at = keyLocator(text)
  return {
    unsupported: unsupported.map(({ path, reason }): UnsupportedKey => ({ path: path.join('.'), reason, position: at(path) })),
    adapters: new Map(named.slice(0, MAX_PLACED).map(([id]): [string, Position] => [id, at(['provider', id, 'npm'])])),
  }
}
