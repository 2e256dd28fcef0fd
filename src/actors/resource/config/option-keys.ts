/** What stands among the options of a plugin entry and changes nothing (plugin-protocol §9.1, choice 23). Pure. */
import { cut } from '../../../kernel/cut.js'
import { nearest } from '../../../protocol/text/nearest.js'
import { HostPattern } from '../../../protocol/plugin/plugin.js'
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
  'models',
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

/** What of `hosts` names no host; undefined where all of it does. */
export function hostsProblem({ hosts }: JsonRecord): string | undefined {
  if (hosts === undefined || hosts === null) return undefined
  if (!Array.isArray(hosts)) return `must be a list of hosts, such as ["127.0.0.1:8080"]; as it is it names none`
  const wrong = hosts.filter((host) => typeof host !== 'string' || !HostPattern.safeParse(host.toLowerCase()).success)
  if (wrong.length === 0) return undefined
  const [first] = wrong as readonly unknown[]
  const text = cut(JSON.stringify(first), 100)
  const meant = typeof first === 'string' && /^https?:/i.test(first) && URL.canParse(first) ? new URL(first).host : undefined
  return `${text} is no host, and names none: ${meant === undefined ? 'write a name or an address, with a port or without, such as "127.0.0.1:8080"' : `write "${meant}"`}`
}

function isUsable(form: (typeof FORMS)[number], value: unknown): boolean {
  return form === 'serve' ? Array.isArray(value) && value.every((item) => typeof item === 'string') : typeof value === 'string'
}

function hint(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}
