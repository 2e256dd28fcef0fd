/** The reply to `initialize`, checked as a whole (plugin-protocol §4.5, §6.2). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { InitializeReply } from '../../../protocol/plugin/plugin-frame.js'
import { namedKinds } from '../../../protocol/plugin/contribution-kinds.js'

const TOOL_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const SERVICES = ['agents', 'commands', 'skills', 'systemContext', 'prompts', 'config', 'providers'] as const
const LISTS = ['tools', 'hooks', 'eventNamespaces', 'routes', 'websocketRoutes', 'messageParts', 'mcp', 'problems'] as const

type Fields = Record<string, unknown>

/** One malformed declaration makes the whole reply invalid: throws `plugin.invalid` with the path of the first. */
export function parseInitializeReply(result: unknown): InitializeReply {
  const parsed = InitializeReply.safeParse(isFields(result) ? lenient(result) : result)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(pathText(issue?.path ?? []), issue?.message ?? 'malformed')
  }
  const reply = parsed.data
  if (reply.tools.length > LIMITS.plugins.tools)
    throw invalid('tools', `there are ${reply.tools.length}, at most ${LIMITS.plugins.tools} may be`)
  const count = LISTS.reduce((sum, key) => sum + reply[key].length, 0) + SERVICES.reduce((sum, key) => sum + reply.services[key].length, 0)
  if (count > LIMITS.plugins.declarations)
    throw invalid('the reply', `it declares ${count} things, at most ${LIMITS.plugins.declarations} may be`)
  for (const [index, { id }] of reply.tools.entries())
    if (!TOOL_ID.test(id))
      throw invalid(
        `tools[${index}].id`,
        `${JSON.stringify(id.slice(0, 80))} is no tool id: a letter, then up to 63 letters, digits, "_" or "-"`,
      )
  return reply
}

/** What of a reply names a kind of contribution that is not taken where it stands, or from plugins like this one. */
export function unusedOf(reply: InitializeReply): readonly string[] {
  const known: readonly string[] = [...LISTS, 'services']
  const services: readonly string[] = SERVICES
  return [
    ...namedKinds(reply).filter((name) => !known.includes(name)),
    ...namedKinds(reply.services).flatMap((name) => (services.includes(name) ? [] : [`services.${name}`])),
  ]
}

/** `{}` and null in list positions are empty lists, and null is the same as absent: a language with one kind of table writes them so. */
function lenient(result: Fields): Fields {
  const reply = withLists(withoutNulls(result), LISTS)
  for (const key of LISTS) reply[key] = mapList(reply[key], declaration)
  reply['mcp'] = mapList(reply['mcp'], (item) => withLists(item, ['authentication']))
  const { services } = reply
  if (isFields(services)) {
    const groups = withLists(services, SERVICES)
    for (const key of SERVICES) groups[key] = mapList(groups[key], declaration)
    groups['providers'] = mapList(groups['providers'], (item) => ({
      ...item,
      ...(isFields(item['descriptor']) && { descriptor: withLists(item['descriptor'], ['models']) }),
    }))
    reply['services'] = groups
  }
  return reply
}

function declaration(item: Fields): Fields {
  const { descriptor } = item
  return { ...withoutNulls(item), ...(isFields(descriptor) && { descriptor: withoutNulls(descriptor) }) }
}

function withLists(fields: Fields, keys: readonly string[]): Fields {
  const copy = { ...fields }
  for (const key of keys) {
    if (!Object.hasOwn(copy, key)) continue
    if (isEmptyTable(copy[key])) copy[key] = []
  }
  return copy
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => value !== null || key === 'schema'))
}

function mapList(list: unknown, change: (item: Fields) => Fields): unknown {
  return Array.isArray(list) ? list.map((item: unknown) => (isFields(item) ? change(item) : item)) : list
}

/** Whether a value stands for an empty list although it is none. */
export function isEmptyTable(value: unknown): boolean {
  return value === null || (isFields(value) && Object.keys(value).length === 0)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return text === '' ? 'the reply' : text.replace(/^\./, '')
}

function invalid(path: string, message: string): SvcError {
  return new SvcError('plugin.invalid', `The answer to initialize is not valid: ${path}: ${message}.`, { path })
}
