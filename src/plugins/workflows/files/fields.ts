/** Reading the fields of a mapping, one mistake for each that does not fit. */
import { LIMITS } from '../../../protocol/limits.js'
import { type Mistakes, type Path, shown } from './problems.js'

export type Fields = Readonly<Record<string, unknown>>

/** A mapping that has no other keys than these; undefined when it is no mapping at all. */
export function readMapping(value: unknown, path: Path, names: readonly string[], mistakes: Mistakes): Fields | undefined {
  const fields = readFields(value, path, mistakes)
  for (const key of Object.keys(fields ?? {})) {
    if (!names.includes(key))
      mistakes.add(
        [...path, key],
        `is no field of ${path.length === 0 ? 'a workflow' : path.join('.')}; the fields are ${names.join(', ')}`,
      )
  }
  return fields
}

export function readFields(value: unknown, path: Path, mistakes: Mistakes): Fields | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.fromEntries(Object.entries(value))
  return mistakes.add(path, `must be a mapping of fields, not ${shown(value)}`)
}

/** Text that is not blank. */
export function readText(
  value: unknown,
  path: Path,
  mistakes: Mistakes,
  longest: number = LIMITS.workflows.textLength,
): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return mistakes.add(path, `must be text, not ${value}; put it in quotes`)
  if (typeof value !== 'string' || value.trim() === '') return mistakes.add(path, `must be text, not ${shown(value)}`)
  return value.length <= longest ? value : mistakes.add(path, `must have at most ${longest} characters, not ${value.length}`)
}

/** Every text of a list; undefined when it is no list. */
export function readTexts(value: unknown, path: Path, mistakes: Mistakes, most: number): string[] | undefined {
  if (!Array.isArray(value)) return mistakes.add(path, `must be a list of texts, not ${shown(value)}`)
  if (value.length > most) return mistakes.add(path, `must have at most ${most} entries, not ${value.length}`)
  return value.flatMap((each: unknown, index) => readText(each, [...path, index], mistakes) ?? [])
}

export function readBoolean(value: unknown, path: Path, mistakes: Mistakes): boolean | undefined {
  return typeof value === 'boolean' ? value : mistakes.add(path, `must be true or false, not ${shown(value)}`)
}

/** A whole number from `least` to `most`. */
export function readInteger(value: unknown, path: Path, mistakes: Mistakes, [least, most]: readonly [number, number]): number | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  return mistakes.add(path, `must be a whole number ${range}, not ${shown(value)}`)
}

export function readChoice<const T extends string>(value: unknown, path: Path, mistakes: Mistakes, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value) ?? mistakes.add(path, `must be ${orList(choices)}, not ${shown(value)}`)
}

export function orList(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
}
