/** A merge patch on the text of a configuration file: comments, order and spelling of what it does not touch survive (choice 9). */
import { nextTurn } from '../../../kernel/pause.js'
import { isDeepStrictEqual } from 'node:util'
import { canonicalKey, isAgentDocumentKey, isEditorGroup } from '../../../protocol/resource/agent-config.js'
import { SvcError } from '../../../protocol/errors.js'
import { findTypeError, readLayer } from './config-layer.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { isReservedKey, recordAt } from './config-merge.js'
import { isGrouped, normaliseLayer } from './config-normalise.js'
import { isBlankJsonc, MAX_DEPTH, parseJsonc } from './config-parse.js'
import { removeProperty, setProperty, wrapRoot } from './jsonc-edit.js'
import { sandboxFaults, unknownActions } from './permission-config.js'

interface Edit {
  readonly path: readonly string[]
  /** undefined removes. */
  readonly value: unknown
}

/** Characters that one patch may make the editor read again; every edit reads the file once. */
const MAX_WORK = 4 * 1024 * 1024

/**
 * The patch in flat form with documented spellings, `null` meaning removal. Throws `config.invalid` with
 * `details.path` when a value has the wrong type, a key is reserved or the nesting is too deep.
 */
export function normalisePatch(patch: JsonRecord): JsonRecord {
  refuseHostile(patch, [])
  const flat = normaliseLayer(patch)
  const values = withoutNulls(flat)
  const error = findTypeError(values)
  if (error !== undefined) throw invalid(error.path.join('.'), error.message)
  for (const [name, agent] of [['', values] as const, ...Object.entries(recordAt(values, 'agent'))]) {
    const [wrong] = isRecord(agent) ? unknownActions(agent) : []
    if (wrong !== undefined) throw invalid(name === '' ? wrong : `agent.${name}.${wrong}`, 'must be "allow", "deny" or "ask"')
  }
  const [fault] = sandboxFaults(values)
  if (fault !== undefined) throw invalid(fault.path, fault.message)
  return flat
}

/** Patch values with the removals left out. */
export function withoutNulls(patch: JsonRecord): JsonRecord {
  const kept = Object.entries(patch).filter(([, value]) => value !== null)
  return Object.fromEntries(kept.map(([key, value]) => [key, isRecord(value) ? withoutNulls(value) : value]))
}

/**
 * The new text of a file. `patch` comes from `normalisePatch`. Throws `config.invalid` when the file itself is
 * malformed, `request.unprocessable` when its layout cannot take the patch.
 */
export async function patchText(text: string, patch: JsonRecord): Promise<string> {
  const before = readLayer(text)
  if (!before.ok) {
    const { line, column } = before.position
    throw new SvcError('config.invalid', `The configuration file must be repaired first: ${line}:${column}: ${before.message}`, {
      line,
      column,
    })
  }
  await nextTurn()
  const groups = Object.keys(withoutNulls(patch)).some(isEditorGroup)
  let result = groups ? wrapFlat(text) : text
  await nextTurn()
  const edits = collectEdits(rawOf(result), patch, groups)
  const tooMuch = () =>
    new SvcError('request.unprocessable', 'The patch changes too many values of a large file at once; split it.', { edits: edits.length })
  if (edits.length * (result.length + 1) > MAX_WORK) throw tooMuch()
  if (edits.length > 0 && isBlankJsonc(result)) result = `${result}{}\n`
  // The file grows with what is set.
  let work = 0
  for (const { path, value } of edits) {
    work += result.length
    if (work > MAX_WORK) throw tooMuch()
    result = value === undefined ? removeProperty(result, path) : setProperty(result, path, value)
    await nextTurn()
  }
  await nextTurn()
  const after = readLayer(result)
  await nextTurn()
  if (after.ok && isDeepStrictEqual(after.document, mergePatch(before.document, patch))) return result
  throw new SvcError('request.unprocessable', 'The layout of the configuration file cannot take this patch; edit the file instead.', {})
}

/** A record of the file. */
interface Spot {
  readonly raw: JsonRecord
  readonly flatPath: readonly string[]
  readonly place: readonly string[]
  /** Keys as they are written, by their documented spelling. */
  readonly spellings: ReadonlyMap<string, readonly string[]>
}

function collectEdits(raw: JsonRecord, patch: JsonRecord, groups: boolean): Edit[] {
  const top = spotOf(raw, [], [])
  if (!groups && !isGrouped(raw)) return editsOf(top, patch)
  const group = spotOf(recordAt(raw, 'agent'), [], ['agent'])
  const fresh = spotOf({}, [], [])
  return Object.entries(patch).flatMap(([key, value]) => {
    const inGroup = editsOf(group, { [key]: value })
    const atTop = editsOf(key === 'agent' ? fresh : top, { [key]: value })
    if (value === null) return [...inGroup, ...atTop]
    const stays = group.spellings.has(key) || (isAgentDocumentKey(key) && (key === 'agent' || !top.spellings.has(key)))
    return stays ? inGroup : atTop
  })
}

function spotOf(raw: JsonRecord, flatPath: readonly string[], place: readonly string[]): Spot {
  const spellings = new Map<string, string[]>()
  for (const name of Object.keys(raw)) {
    const key = canonicalKey(flatPath, name)
    const known = spellings.get(key)
    if (known === undefined) spellings.set(key, [name])
    else known.push(name)
  }
  return { raw, flatPath, place, spellings }
}

function editsOf(at: Spot, patch: JsonRecord): Edit[] {
  return Object.entries(patch).flatMap(([key, value]): Edit[] => {
    const spelled = at.spellings.get(key) ?? []
    if (value === null) return spelled.map((name) => ({ path: [...at.place, name], value: undefined }))
    const name = spelled.includes(key) ? key : (spelled[0] ?? key)
    const existing = at.raw[name]
    const place = [...at.place, name]
    if (!isRecord(value)) return [{ path: place, value }]
    if (!isRecord(existing)) return [{ path: place, value: withoutNulls(value) }]
    return editsOf(spotOf(existing, [...at.flatPath, key], place), value)
  })
}

/** A flat document becomes the `agent` group of a grouped one when a client's own groups are added to it. */
function wrapFlat(text: string): string {
  const raw = rawOf(text)
  return isGrouped(raw) || Object.keys(raw).length === 0 ? text : wrapRoot(text, 'agent')
}

/** The flat document after a patch. */
export function mergePatch(document: JsonRecord, patch: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...document }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = isRecord(value) ? mergePatch(recordAt(result, key), value) : value
  }
  return result
}

function rawOf(text: string): JsonRecord {
  const parsed = parseJsonc(text)
  return parsed.ok ? parsed.value : {}
}

function refuseHostile(value: unknown, path: readonly string[]): void {
  if (path.length > MAX_DEPTH) throw invalid(path.slice(0, 3).join('.'), `is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) for (const item of value) refuseHostile(item, [...path, '[]'])
  if (!isRecord(value)) return
  for (const [key, inner] of Object.entries(value)) {
    if (isReservedKey(key)) throw invalid([...path, key].join('.'), 'is a reserved key')
    refuseHostile(inner, [...path, key])
  }
}

function invalid(path: string, message: string): SvcError {
  return new SvcError('config.invalid', `"${path}": ${message}`, { path })
}
