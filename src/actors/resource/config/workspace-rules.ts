/** Rules of which the table of what a workspace may set is made: each answers what of a value counts, and says what does not. */
import type * as z from 'zod'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { recordAt } from './config-merge.js'

export interface Ground {
  /** Merged document of the installation layers. */
  readonly trusted: JsonRecord
  readonly worktree: string
}

export interface Refusal {
  /** Dotted path in the flat document. */
  readonly path: string
  readonly reason: string
}

type Keys = readonly string[]

/** Where a value stands, and who is told of what does not count. */
export interface Spot {
  readonly keys: Keys
  readonly ground: Ground
  refuse(keys: Keys, reason: string): undefined
  /** It is no key of this place: nothing reads it, and it is shown as it stands in the file. */
  keep(keys: Keys, value: unknown): undefined
}

/** Undefined = nothing of it counts. */
export type Rule = (value: unknown, spot: Spot) => unknown

export const ONLY_INSTALLATION = 'only the installation configuration can set it'

const refused: Rule = (_value, { keys, refuse }) => refuse(keys, ONLY_INSTALLATION)

/** A single value, or a list of single values: nothing hides in it. */
export const plain: Rule = (value, { keys, refuse }) => {
  const isSingle = (each: unknown) => ['string', 'number', 'boolean'].includes(typeof each)
  if (isSingle(value) || (Array.isArray(value) && value.every(isSingle))) return value
  return refuse(keys, 'it is no value of this key')
}

/** Permissions are a list of rules of their own and never meet those of the installation. */
export const apart: Rule = () => undefined

export const onlyValues =
  (...values: readonly unknown[]): Rule =>
  (value, { keys, refuse }) => {
    if (values.includes(value)) return value
    return refuse(keys, `a workspace may only set it to ${values.map((allowed) => JSON.stringify(allowed)).join(' or ')}`)
  }

/** A value that has exactly this form. */
export const shaped =
  (schema: z.ZodType): Rule =>
  (value, { keys, refuse }) => {
    const { error } = schema.safeParse(value)
    if (error === undefined) return value
    const [issue] = error.issues
    const inner = issue?.path.length ? `"${issue.path.join('.')}": ` : ''
    return refuse(keys, `${inner}${issue?.message ?? 'it is no value of this key'}; ${ONLY_INSTALLATION}`)
  }

/** A record of which the keys of `table` count; the others of `schema` are refused, and so is what only looks like one of them. */
export function record(table: Readonly<Record<string, Rule>>, schema: readonly string[]): Rule {
  const rules = new Map(Object.entries(table))
  const reserved = new Set(schema)
  return (value, spot) => {
    if (!isRecord(value)) return plain(value, spot)
    return mapped(value, spot, (inner, at, key) => {
      const rule = rules.get(key)
      if (rule !== undefined) return rule(inner, at)
      if (reserved.has(key)) return refused(inner, at)
      return spot.keep(at.keys, inner)
    })
  }
}

/** A record of which nothing counts but the names of a list, each with its rule. */
export function listed(rules: ReadonlyMap<string, Rule>): Rule {
  return (value, spot) => {
    if (!isRecord(value)) return plain(value, spot)
    return mapped(value, spot, (inner, at, key) => (rules.get(key) ?? refused)(inner, at))
  }
}

/** A map of things by name, one like the other; undefined when nothing is left of it. */
export function each(rule: Rule): Rule {
  return (value, spot) => {
    const kept = mapped(recordAt({ value }, 'value'), spot, rule)
    return Object.keys(kept).length === 0 && Object.keys(recordAt({ value }, 'value')).length > 0 ? undefined : kept
  }
}

function mapped(value: JsonRecord, spot: Spot, rule: (inner: unknown, at: Spot, key: string) => unknown): JsonRecord {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const result = rule(inner, { ...spot, keys: [...spot.keys, key] }, key)
      return result === undefined ? [] : [[key, result]]
    }),
  )
}
