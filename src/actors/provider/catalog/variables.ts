/** `{env:NAME}` in what the installation says of a provider, as in the files of peers. Pure. */
import type { Effects } from '../../../ports/effects.js'

const VARIABLE = /\{env:([A-Za-z_]\w*)\}/g
const ALONE = /^\{env:([A-Za-z_]\w*)\}$/

/** The text with the values of its variables, nothing where one is not set; what is no text is left as it is. */
export function expanded<T>(value: T, env: Effects['env']): T | string {
  return typeof value === 'string' ? value.replaceAll(VARIABLE, (_all, name: string) => env[name] ?? '') : value
}

/** The variable that a text is nothing but. */
export function variableOf(value: unknown): string | undefined {
  return typeof value === 'string' ? ALONE.exec(value.trim())?.[1] : undefined
}

/** Whether a text holds something that stands there as it is. */
export function isLiteral(value: unknown): value is string {
  return typeof value === 'string' && value.replaceAll(VARIABLE, '').trim() !== ''
}
