/** Every accepted spelling and grouping of a document into the one flat form (subsystems b.1, b.3, b.4). */
import { canonicalKey, hasAliases, isAgentDocumentKey, isCompactionKey, isEditorGroup } from '../../../protocol/resource/agent-config.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { deepMerge, omit, recordAt } from './config-merge.js'

/**
 * Whether a document is grouped: it has an editor group, or its `agent` holds a key of the agent document.
 * In a grouped document agent definitions live in `agent.agent`.
 */
export function isGrouped(document: JsonRecord): boolean {
  if (Object.keys(document).some(isEditorGroup)) return true
  return Object.entries(recordAt(document, 'agent')).some(([key, value]) => isAgentDocumentKey(key) && !isCompactionAgent(key, value))
}

/** The built-in agent `compaction` has the name of a key of the agent document: what is said of it tells which is meant. */
function isCompactionAgent(key: string, value: unknown): boolean {
  return key === 'compaction' && isRecord(value) && !Object.keys(value).some(isCompactionKey)
}

/** One layer in flat form with documented spellings: groups lifted, aliases renamed, `mode` turned into agents. */
export function normaliseLayer(document: JsonRecord): JsonRecord {
  return modesToAgents(renamed(flat(document), []))
}

/** A merged document with what depends on all its layers: `tools` become permissions, commands get their name. */
export function normaliseMerged(document: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...toolsToPermission(document) }
  if (isRecord(result['agent'])) result['agent'] = mapRecords(result['agent'], toolsToPermission)
  if (isRecord(result['command'])) result['command'] = mapRecords(result['command'], (command, name) => ({ name, ...command }))
  return result
}

function flat(document: JsonRecord): JsonRecord {
  if (!isGrouped(document) || !isRecord(document['agent'])) return document
  return deepMerge(omit(document, ['agent']), document['agent'])
}

function renamed(record: JsonRecord, path: readonly string[]): JsonRecord {
  if (!hasAliases(path)) return record
  const result: Record<string, unknown> = {}
  const aliased: (readonly [string, unknown])[] = []
  for (const [key, value] of Object.entries(record)) {
    const name = canonicalKey(path, key)
    const inner = isRecord(value) ? renamed(value, [...path, name]) : value
    if (name === key) result[key] = inner
    else aliased.push([name, inner])
  }
  for (const [name, value] of aliased) if (!Object.hasOwn(result, name)) result[name] = value
  return result
}

function modesToAgents(document: JsonRecord): JsonRecord {
  if (!isRecord(document['mode'])) return document
  const modes = mapRecords(document['mode'], (mode) => ({ mode: 'primary', ...mode }))
  return { ...omit(document, ['mode']), agent: deepMerge(modes, recordAt(document, 'agent')) }
}

/** Tools of the group `edit` (subsystems b.8). */
const EDITS = new Set(['edit', 'write', 'apply_patch', 'patch'])

function toolsToPermission(record: JsonRecord): JsonRecord {
  if (!isRecord(record['tools'])) return record
  const permission: Record<string, unknown> = { ...recordAt(record, 'permission') }
  const written = new Set(Object.keys(permission))
  for (const [tool, enabled] of Object.entries(record['tools'])) {
    const group = EDITS.has(tool) ? 'edit' : tool
    if (written.has(group) || permission[group] === 'deny') continue
    permission[group] = enabled === true ? 'allow' : 'deny'
  }
  return { ...omit(record, ['tools']), permission }
}

function mapRecords(records: JsonRecord, change: (record: JsonRecord, key: string) => JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(records).map(([key, value]) => [key, isRecord(value) ? change(value, key) : value]))
}
