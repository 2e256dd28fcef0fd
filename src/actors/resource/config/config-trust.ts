/**
 * What a workspace layer may say (threat-model W1, W3, W4). Content nobody accepted narrows and never widens, so
 * everything that names a program, an endpoint, a credential, consent or a file elsewhere is taken out here.
 * Permissions are taken out too: they become a narrowing list of their own and never meet the trusted rules.
 */
import { INSTALLATION_KEYS } from '../../../protocol/resource/agent-config.js'
import { isRecord, type JsonRecord } from '../../../protocol/json.js'
import { omit, recordAt, stringsAt } from './config-merge.js'
import { readNamedPath } from './named-paths.js'

interface Refusal {
  /** Dotted path in the flat document. */
  readonly path: string
  readonly reason: string
}

export interface Narrowed {
  readonly document: JsonRecord
  readonly refused: readonly Refusal[]
}

interface Ground {
  /** Merged document of the installation layers. */
  readonly trusted: JsonRecord
  readonly worktree: string
}

type Rule = (value: unknown, ground: Ground, refuse: (path: string, reason: string) => void) => unknown

const ONLY_INSTALLATION = 'only the installation configuration can set it'

/** A normalised workspace layer without what it may not set, and what was taken out. */
export function narrowWorkspace(document: JsonRecord, ground: Ground): Narrowed {
  const refused: Refusal[] = []
  const kept: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(omit(document, ['permission', 'tools']))) {
    const rule = RULES[key]
    const result =
      rule === undefined
        ? value
        : rule(value, ground, (path, reason) => refused.push({ path: path === '' ? key : `${key}.${path}`, reason }))
    if (result !== undefined) kept[key] = result
  }
  return { document: kept, refused }
}

const never: Rule = (_value, _ground, refuse) => {
  refuse('', ONLY_INSTALLATION)
}

const onlyValues =
  (...values: readonly unknown[]): Rule =>
  (value, _ground, refuse) => {
    if (values.includes(value)) return value
    refuse('', `a workspace may only set it to ${values.map((allowed) => JSON.stringify(allowed)).join(' or ')}`)
    return undefined
  }

const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(INSTALLATION_KEYS.map((key) => [key, never])),
  shell: never,
  plugin: never,
  dangerouslySkipPermissions: onlyValues(false),
  autoshare: onlyValues(false),
  autoupdate: onlyValues(false),
  share: onlyValues('manual', 'disabled'),
  lsp: onlyValues(false),
  formatter: onlyValues(false),
  plugins: switchedOff((value) => value === false || isSwitchedOff(value)),
  mcp: switchedOff(isSwitchedOff),
  enabledProviders: narrowEnabled,
  disabledProviders: (value, { trusted }) => [
    ...new Set([...(stringsAt(trusted, 'disabledProviders') ?? []), ...(stringsAt({ value }, 'value') ?? [])]),
  ],
  provider: narrowProviders,
  agent: (value, _ground, refuse) => mapRecords(value, (agent, name) => narrowAgent(agent, name, refuse)),
  skills: narrowSkills,
  instructions: (value, ground, refuse) => keepInside(value, ground, (reason) => refuse('', reason)),
  experimental: (value, _ground, refuse) => {
    if (recordAt({ value }, 'value')['openTelemetry'] !== true) return value
    refuse('openTelemetry', ONLY_INSTALLATION)
    return isRecord(value) ? omit(value, ['openTelemetry']) : value
  },
}

/** Entries of a map of programs: a workspace may switch one off and nothing else. */
function switchedOff(isOff: (value: unknown) => boolean): Rule {
  return (value, _ground, refuse) => {
    const entries = Object.entries(recordAt({ value }, 'value'))
    const kept = entries.filter(([name, entry]) => {
      if (isOff(entry)) return true
      refuse(name, 'a workspace may only switch it off; ' + ONLY_INSTALLATION)
      return false
    })
    return kept.length === 0 ? undefined : Object.fromEntries(kept)
  }
}

function isSwitchedOff(value: unknown): boolean {
  if (!isRecord(value) || Object.keys(value).length !== 1) return false
  return value['enabled'] === false || value['disable'] === true || value['disabled'] === true
}

function narrowEnabled(value: unknown, { trusted }: Ground, refuse: (path: string, reason: string) => void): unknown {
  const allowed = stringsAt(trusted, 'enabledProviders')
  if (allowed === undefined) return value
  return stringsAt({ value }, 'value')?.filter((id) => {
    if (allowed.includes(id)) return true
    refuse('', `"${id}" is not enabled by the installation configuration`)
    return false
  })
}

const PROVIDER_KEYS = ['name', 'models', 'compatibility']
const MODEL_KEYS = [
  'id',
  'name',
  'family',
  'attachment',
  'reasoning',
  'temperature',
  'toolCall',
  'limit',
  'options',
  'variants',
  'cost',
  'status',
  'releaseDate',
]
/** Request options that decide where a request goes or what it carries besides the prompt. */
const ENDPOINT_OPTIONS = new Set([
  'baseurl',
  'base-url',
  'url',
  'endpoint',
  'host',
  'headers',
  'apikey',
  'api-key',
  'fetch',
  'env',
  'proxy',
  'npm',
  'query',
])

/** Providers first defined in a workspace are inert (W2); those of the installation may get models, never another endpoint. */
function narrowProviders(value: unknown, { trusted }: Ground, refuse: (path: string, reason: string) => void): unknown {
  const known = recordAt(trusted, 'provider')
  const kept = Object.entries(recordAt({ value }, 'value')).flatMap(([id, provider]): [string, JsonRecord][] => {
    if (!Object.hasOwn(known, id)) {
      refuse(id, 'a provider that the installation configuration does not define is not used')
      return []
    }
    const narrowed = keepKeys(recordAt({ provider }, 'provider'), PROVIDER_KEYS, (key) => refuse(`${id}.${key}`, ONLY_INSTALLATION))
    if (!isRecord(narrowed['models'])) return [[id, narrowed]]
    const models = mapRecords(narrowed['models'], (model, name) =>
      narrowModel(model, (key) => refuse(`${id}.models.${name}.${key}`, ONLY_INSTALLATION)),
    )
    return [[id, { ...narrowed, models }]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function narrowModel(model: JsonRecord, refuse: (path: string) => void): JsonRecord {
  const kept: Record<string, unknown> = { ...keepKeys(model, MODEL_KEYS, refuse) }
  if (isRecord(kept['options'])) kept['options'] = withoutEndpoints(kept['options'], (key) => refuse(`options.${key}`))
  if (isRecord(kept['variants'])) {
    kept['variants'] = mapRecords(kept['variants'], (variant, name) =>
      withoutEndpoints(variant, (key) => refuse(`variants.${name}.${key}`)),
    )
  }
  return kept
}

function narrowAgent(agent: JsonRecord, name: string, refuse: (path: string, reason: string) => void): JsonRecord {
  const kept = omit(agent, ['permission', 'tools'])
  if (!isRecord(kept['options'])) return kept
  return { ...kept, options: withoutEndpoints(kept['options'], (key) => refuse(`${name}.options.${key}`, ONLY_INSTALLATION)) }
}

function withoutEndpoints(options: JsonRecord, refuse: (key: string) => void): JsonRecord {
  const allowed = Object.keys(options).filter((key) => !ENDPOINT_OPTIONS.has(key.toLowerCase()))
  return keepKeys(options, allowed, refuse)
}

function narrowSkills(value: unknown, ground: Ground, refuse: (path: string, reason: string) => void): unknown {
  if (!isRecord(value)) return value
  if (value['urls'] !== undefined) refuse('urls', ONLY_INSTALLATION)
  const paths = keepInside(value['paths'], ground, (reason) => refuse('paths', reason))
  return { ...omit(value, ['urls', 'paths']), ...(paths !== undefined && { paths }) }
}

/** Entries of a workspace's list of paths that stay in its worktree; links are judged when the files are read. */
function keepInside(value: unknown, { worktree }: Ground, refuse: (reason: string) => void): unknown {
  if (!Array.isArray(value)) return value
  return value.filter((entry) => {
    const named = readNamedPath(String(entry), { trust: 'workspace', home: '', worktree })
    if (!named.ok) refuse(`"${String(entry)}" ${named.reason}`)
    return named.ok
  })
}

function keepKeys(record: JsonRecord, keys: readonly string[], refuse: (key: string) => void): JsonRecord {
  const dropped = Object.keys(record).filter((key) => !keys.includes(key))
  dropped.forEach(refuse)
  return omit(record, dropped)
}

function mapRecords(value: unknown, change: (record: JsonRecord, key: string) => JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(recordAt({ value }, 'value')).map(([key, inner]) => [key, isRecord(inner) ? change(inner, key) : {}]),
  )
}
