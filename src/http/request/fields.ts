/** Named fields of a request: path parameters, query parameters, headers (threat-model H9). */
import { SvcError } from '../../protocol/errors.js'

/**
 * The fields that are named and nothing else; a field given twice has no one value and is refused, and so is one
 * with a NUL in it, which some programs would take for its end.
 */
export function fieldsOf(source: unknown, names: readonly string[], what: string): Record<string, string> {
  const fields: Record<string, string> = {}
  if (typeof source !== 'object' || source === null) return fields
  for (const name of names) {
    const value: unknown = Object.getOwnPropertyDescriptor(source, name)?.value
    if (value === undefined) continue
    if (typeof value !== 'string') throw new SvcError('request.invalid', `The ${what} "${name}" is given more than once.`, { name })
    if (value.includes('\0')) throw new SvcError('request.invalid', `The ${what} "${name}" contains a NUL character.`, { name })
    fields[name] = value
  }
  return fields
}
