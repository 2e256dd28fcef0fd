/** What is in a value of any shape: small enough that no schema has to be loaded for it. */

/** Undefined where there is no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

/** Undefined where it is no list. */
export function listOf(value: unknown, name: string): readonly unknown[] | undefined {
  const list = fieldOf(value, name)
  return Array.isArray(list) ? list : undefined
}

/** Undefined where it is no text. */
export function textOf(value: unknown, name: string): string | undefined {
  const text = fieldOf(value, name)
  return typeof text === 'string' ? text : undefined
}
