/** How layers become one document: objects merge, everything else replaces, `instructions` are united (subsystems b.1). */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])
/** Why a reserved key has no effect. */
export const RESERVED_KEY = 'it is a name that every object has'

/** Names that could reach a prototype; they never survive the reading of outside data (threat-model X1). */
export function isReservedKey(key: string): boolean {
  return RESERVED.has(key)
}

/** The record at `key`, or an empty one. */
export function recordAt(value: unknown, key: string): JsonRecord {
  const inner = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return isRecord(inner) ? inner : {}
}

/** The strings of an array at `key`; undefined when there is no array. */
export function stringsAt(value: unknown, key: string): readonly string[] | undefined {
  const inner = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return Array.isArray(inner) ? inner.filter((item): item is string => typeof item === 'string') : undefined
}

/** Merges two documents; `over` wins. Keys keep the place where they were first seen. */
export function mergeDocuments(base: JsonRecord, over: JsonRecord): JsonRecord {
  const merged = deepMerge(base, over)
  const before = stringsAt(base, 'instructions')
  const after = stringsAt(over, 'instructions')
  if (before === undefined || after === undefined) return merged
  return { ...merged, instructions: [...new Set([...before, ...after])] }
}

/** Merges records key by key; arrays and scalars of `over` replace. */
export function deepMerge(base: JsonRecord, over: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(over)) {
    if (isReservedKey(key)) continue
    const existing = merged[key]
    merged[key] = isRecord(existing) && isRecord(value) ? deepMerge(existing, value) : value
  }
  return merged
}

/** The record without some keys. */
export function omit(record: JsonRecord, keys: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}
