/**
 * The first fault of a large value. A schema that judges a value whole collects every fault of it, each with its texts, and those of every
 * branch of a union; here one wrong item ends the look, so that a value of a thousand faults costs no more than one of one.
 */
import * as z from 'zod'

export type Path = readonly PropertyKey[]

export interface Fault {
  readonly path: Path
  readonly message: string
}

type Schema = z.core.$ZodType

/** Values up to which all faults are told at once. */
const SMALL = 512

/** Whether there are more values in it than may be judged whole. */
export function isLarge(root: unknown): boolean {
  const open: unknown[] = [root]
  for (let left = SMALL; open.length > 0; left--) {
    if (left === 0 || open.length > SMALL) return true
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (inner.length > SMALL) return true
    open.push(...inner)
  }
  return false
}

/** The first part of the value that the schema refuses; undefined when the parts it knows are right. */
export function firstFault(schema: Schema, value: unknown, path: Path = []): Fault | undefined {
  if (typeof value !== 'object' || value === null) return judge(schema, value, path)
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
      return firstFault(def.innerType, value, path)
    case 'lazy':
      return firstFault(def.getter(), value, path)
    case 'array':
      return Array.isArray(value) ? ofItems(def, value, path) : expected('array', path)
    case 'record':
      return Array.isArray(value) ? expected('record', path) : ofEntries(Object.entries(value), () => def.valueType, path)
    case 'object':
      return Array.isArray(value) ? expected('object', path) : ofObject(def, value as Readonly<Record<string, unknown>>, path)
    case 'union':
      return ofUnion(schema, value, path)
    default:
      return judge(schema, value, path)
  }
}

/** The branch of a discriminated union that a value names; undefined for other unions, and when it names none. */
export function branchOf(schema: Schema, value: object): Schema | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type !== 'union' || !('discriminator' in def)) return undefined
  const key = String(def.discriminator)
  const said: unknown = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
  return def.options.find((option) => option._zod.propValues?.[key]?.has(said as z.core.util.Primitive) === true)
}

export function isDiscriminated(schema: Schema): boolean {
  return 'discriminator' in (schema as z.core.$ZodTypes)._zod.def
}

function ofItems(
  { element, checks = [] }: { readonly element: Schema; readonly checks?: readonly z.core.$ZodCheck[] | undefined },
  items: readonly unknown[],
  path: Path,
): Fault | undefined {
  for (const { _zod } of checks) {
    const most = 'maximum' in _zod.def ? Number(_zod.def.maximum) : Number.POSITIVE_INFINITY
    if (items.length > most) return { path, message: `must have at most ${most} items` }
  }
  return ofEntries(items.entries(), () => element, path)
}

function ofObject(
  { shape, catchall }: { readonly shape: Readonly<Record<string, Schema>>; readonly catchall?: Schema | undefined },
  value: Readonly<Record<string, unknown>>,
  path: Path,
): Fault | undefined {
  const unknown = catchall?._zod.def.type === 'never' ? Object.keys(value).find((key) => !Object.hasOwn(shape, key)) : undefined
  if (unknown !== undefined) return { path, message: `Unrecognized key: ${JSON.stringify(unknown)}` }
  return ofEntries(
    Object.keys(shape).map((key) => [key, Object.hasOwn(value, key) ? value[key] : undefined] as const),
    (key) => shape[key],
    path,
  )
}

function ofEntries<K extends PropertyKey>(
  entries: Iterable<readonly [K, unknown]>,
  schemaOf: (key: K) => Schema | undefined,
  path: Path,
): Fault | undefined {
  for (const [key, item] of entries) {
    const schema = schemaOf(key)
    const fault = schema && firstFault(schema, item, [...path, key])
    if (fault !== undefined) return fault
  }
  return undefined
}

function ofUnion(schema: Schema, value: object, path: Path): Fault | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type !== 'union') return undefined
  const branch = branchOf(schema, value)
  if (branch !== undefined) return firstFault(branch, value, path)
  if (isDiscriminated(schema)) return judge(schema, {}, path)
  const faults: Fault[] = []
  for (const option of def.options) {
    const fault = firstFault(option, value, path)
    if (fault === undefined) return undefined
    faults.push(fault)
  }
  return faults.toSorted((a, b) => b.path.length - a.path.length)[0]
}

/** Of values that hold no others, or that a schema takes whole. */
function judge(schema: Schema, value: unknown, path: Path): Fault | undefined {
  const issue = z.safeParse(schema, value).error?.issues[0]
  return issue && { path: [...path, ...issue.path], message: issue.message }
}

function expected(what: string, path: Path): Fault {
  return { path, message: `expected ${what}` }
}
