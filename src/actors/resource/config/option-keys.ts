/** What stands among the options of a plugin entry and changes nothing (plugin-protocol §9.1, choice 23). Pure. */
import { nearest } from '../../../protocol/text/nearest.js'
import type { JsonRecord } from '../../../protocol/text/json.js'

/** What starts a plugin; the first that can be used wins. */
const FORMS = ['serve', 'entry', 'npm'] as const
const OPTIONS: readonly string[] = [
  ...FORMS,
  'path',
  'config',
  'env',
  'timeoutMs',
  'network',
  'hosts',
  'sandbox',
  'capabilities',
  'revision',
  'digest',
  'trust',
]
/** Of built-in plugins, by id; the others have none. */
const OF_BUILT_INS: Readonly<Record<string, readonly string[]>> = { 'dev.svc.mcp': ['toolBudget'] }
/** Told one by one. */
const TOLD = 16

/** Keys without effect, with the reason. */
export function idleOptions(id: string, isBuiltIn: boolean, options: JsonRecord): readonly (readonly [key: string, reason: string])[] {
  const known = isBuiltIn ? (OF_BUILT_INS[id] ?? []) : OPTIONS
  const unknown = Object.keys(options)
    .filter((key) => !known.includes(key))
    .slice(0, TOLD)
    .map((key) => [key, `has no effect: it is no option of ${isBuiltIn ? 'this' : 'a'} plugin${hint(key, known)}`] as const)
  const [first, ...beside] = isBuiltIn ? [] : FORMS.filter((form) => isUsable(form, options[form]))
  return [...unknown, ...beside.map((form) => [form, `has no effect beside "${first}"`] as const)]
}

function isUsable(form: (typeof FORMS)[number], value: unknown): boolean {
  return form === 'serve' ? Array.isArray(value) && value.every((item) => typeof item === 'string') : typeof value === 'string'
}

function hint(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}
