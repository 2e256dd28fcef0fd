/**
 * What the configuration says about plugins, entry by entry (plugin-protocol §2.1, §3.4, §9.1, §9.2). Pure.
 *
 * I1 Only the installation enables, configures and trusts; a workspace switches off and nothing else (threat-model W2, W3).
 * I2 Off wins: whoever switches an id off, nobody switches it on again.
 * I3 What the installation has written runs on where a workspace has switched it off: its hooks may refuse what the workspace wants.
 */
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { LIMITS } from '../../../protocol/limits.js'
import { REGISTRY_ID, type TrustRecord } from '../../../protocol/plugin/plugin.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { recordAt } from './config-merge.js'
import { hostsProblem, idleOptions } from './option-keys.js'
import { type PackageEntry, type ProcessOptions, packageEntry, processOptions, type Report, readTrust } from './entry-options.js'

/** A process that speaks `svc-plugin/2` and that the configuration itself describes. */
export type ProcessEntry = { readonly id: string } & ProcessOptions &
  (
    | { readonly form: 'serve'; readonly command: readonly string[] }
    | { readonly form: 'entry'; readonly path: string }
    | { readonly form: 'npm'; readonly spec: string }
  )

/** Points to the manifest of a hook command (plugin-protocol §9.5). */
export interface DeclarativeEntry {
  readonly form: 'declarative'
  readonly id: string
  /** Where the entry says its manifest is; undefined = `<configuration root>/plugins/<id>.json`. */
  readonly path: string | undefined
}

type DrivenEntry = ProcessEntry | DeclarativeEntry

export interface PluginEntries {
  /** By exact id or pattern: `prefix*`, `*`, with or without a leading `-`. */
  isDisabled(id: string): boolean
  /** As `isDisabled`, whatever the workspace says: what everybody shares is not for one workspace to switch off. */
  isDisabledForAll(id: string): boolean
  package(id: string): PackageEntry
  /**
   * Entries that are more than settings of a package, sorted by id, unless the installation has switched them off: a workspace that has does
   * without their tools, and not without their hooks. A declarative one without `path` may be just settings, too.
   */
  readonly driven: readonly DrivenEntry[]
  /** The same, switched off for everybody. */
  readonly off: readonly DrivenEntry[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

interface Entry {
  readonly id: string
  readonly enabled: boolean
  readonly options: JsonRecord
  /** Where it is written, for diagnostics. */
  readonly path: string
}

/**
 * Reads the plugin entries of one directory. `trusted` is the merged document of the installation layers; `other` is the
 * merged document of the workspace layers or the effective document, of which only what it switches off counts.
 */
export function readPluginEntries(trusted: JsonRecord, other: JsonRecord): PluginEntries {
  const diagnostics: ConfigDiagnostic[] = []
  const report: Report = (level, path, message) => void diagnostics.push({ level, path, message })
  const written = readWritten(trusted, report)
  const offForAll = written.filter(({ enabled }) => !enabled).map(({ id }) => id)
  const off = [...offForAll, ...switchedOff(other)]
  const isDisabled = (id: string) => off.some((pattern) => matches(pattern, id)) // I2
  const entries = firstOfEach(written, report)
  const isDisabledForAll = (id: string) => offForAll.some((pattern) => matches(pattern, id))
  const isOn = ({ id, enabled }: Entry) => enabled && !isDisabledForAll(id) // I3
  return {
    isDisabled,
    isDisabledForAll,
    package: (id) => packageEntry(entries.get(id)?.options ?? {}),
    driven: drivenEntries([...entries.values()].filter(isOn), report),
    off: drivenEntries(
      [...entries.values()].filter((entry) => !isOn(entry)),
      () => undefined,
    ),
    diagnostics: [...diagnostics, ...[...entries.values()].flatMap((entry) => [...checkTrust(entry), ...checkOptions(entry)])],
  }
}

/** Every approval a document holds, in whatever form its entries are written. */
export function approvalsOf(document: JsonRecord): TrustRecord[] {
  return readWritten(document, () => undefined).flatMap(({ options }) => readTrust(options).records)
}

/** Ids of built-in plugins are not for anybody else. */
export function isBuiltInId(id: string): boolean {
  return id.startsWith('dev.svc.')
}

/** Whether a manifest of a hook command is named by its id alone. */
function isManifestPath(id: string): boolean {
  return id.endsWith('.json') || id.includes('/') || id.startsWith('.')
}

function readWritten(trusted: JsonRecord, report: Report): Entry[] {
  const list = Array.isArray(trusted['plugin']) ? trusted['plugin'] : []
  const named = Object.entries(recordAt(trusted, 'plugins')).map(([key, value]) => readEntry(key, value, `plugins.${key}`))
  const listed = list.map((value, index) => (typeof value === 'boolean' ? undefined : readEntry('', value, `plugin.${index}`)))
  const paths = [...Object.keys(recordAt(trusted, 'plugins')).map((key) => `plugins.${key}`), ...list.map((_, index) => `plugin.${index}`)]
  return [...named, ...listed].flatMap((entry, index) => {
    if (entry !== undefined) return [entry]
    report('error', paths[index] ?? 'plugins', 'must be an id, a list of an id and options, true, false, or an object; it is ignored')
    return []
  })
}

/** One value in any of its forms (subsystems b.3); undefined when it has none of them. */
function readEntry(key: string, value: unknown, path: string): Entry | undefined {
  if (typeof value === 'boolean') return entry(key, value, {}, path)
  if (typeof value === 'string') return entry(value, true, {}, path)
  if (Array.isArray(value)) {
    const id: unknown = value[0]
    const options: unknown = value[1]
    return typeof id === 'string' ? entry(id, true, isRecord(options) ? options : {}, path) : undefined
  }
  if (!isRecord(value)) return undefined
  const id = value['id']
  return entry(typeof id === 'string' && id !== '' ? id : key, !isOff(value), recordAt(value, 'options'), path)
}

/** A leading `-` switches off, whatever else is written. */
function entry(id: string, enabled: boolean, options: JsonRecord, path: string): Entry | undefined {
  const name = id.startsWith('-') ? id.slice(1) : id
  return name === '' ? undefined : { id: name, enabled: enabled && name === id, options, path }
}

function isOff(value: JsonRecord): boolean {
  return value['enabled'] === false || value['disable'] === true || value['disabled'] === true
}

/** Keys of `plugins` that a document switches off; everything else it says is left unread (I1). */
function switchedOff(document: JsonRecord): string[] {
  return Object.entries(recordAt(document, 'plugins')).flatMap(([key, value]) =>
    value === false || (isRecord(value) && isOff(value)) ? [key.startsWith('-') ? key.slice(1) : key] : [],
  )
}

function matches(pattern: string, id: string): boolean {
  return pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : pattern === id
}

function firstOfEach(written: readonly Entry[], report: Report): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const entry of written) {
    const first = entries.get(entry.id)
    if (first === undefined) entries.set(entry.id, entry)
    else if (entry.enabled) report('warning', entry.path, `"${entry.id}" is already configured at ${first.path}; this is ignored`)
  }
  return entries
}

function checkTrust({ options, path }: Entry): ConfigDiagnostic[] {
  if (!readTrust(options).unreadable) return []
  const message =
    'is not an approval (workspaceId, packageId, revision, capabilities, …) or a list of them; what cannot be read approves nothing'
  return [{ level: 'error', path: `${path}.options.trust`, message }]
}

function checkOptions({ id, options, path }: Entry): ConfigDiagnostic[] {
  const idle = idleOptions(id, isBuiltInId(id), options).map(
    ([key, message]): ConfigDiagnostic => ({ level: 'warning', path: `${path}.options.${key}`, message }),
  )
  const problem = isBuiltInId(id) ? undefined : hostsProblem(options)
  return problem === undefined ? idle : [...idle, { level: 'error', path: `${path}.options.hosts`, message: problem }]
}

function drivenEntries(entries: readonly Entry[], report: Report): DrivenEntry[] {
  const driven = entries.flatMap((entry): DrivenEntry[] => {
    if (entry.id.endsWith('*')) return []
    const found = drivenEntry(entry, report)
    return found === undefined ? [] : [found]
  })
  const max = LIMITS.plugins.perWorkspace
  if (driven.length > max) report('error', 'plugins', `has more than ${max} entries that start something; the rest is ignored`)
  return driven.slice(0, max).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** First match wins (plugin-protocol §9.1). */
function drivenEntry(entry: Entry, report: Report): DrivenEntry | undefined {
  const { id, options, path } = entry
  const { serve, entry: file, npm } = options
  const isServe = Array.isArray(serve) && serve.every((item) => typeof item === 'string')
  if (serve !== undefined && !isServe) report('warning', `${path}.options.serve`, 'must be a list of strings; it is ignored')
  if (!isServe && typeof file !== 'string' && typeof npm !== 'string') {
    return isBuiltInId(id) ? undefined : { form: 'declarative', id, path: manifestPath(entry) }
  }
  if (isBuiltInId(id) || !REGISTRY_ID.test(id)) {
    const reason = isBuiltInId(id) ? 'is the id of a built-in plugin' : 'must have a "." and otherwise only letters, digits, "-" and "_"'
    report('error', path, `the plugin id "${id}" ${reason}; the entry is ignored`)
    return undefined
  }
  const common = { id, ...processOptions(options, `${path}.options`, report) }
  if (isServe) return { ...common, form: 'serve', command: serve }
  return typeof file === 'string' ? { ...common, form: 'entry', path: file } : { ...common, form: 'npm', spec: String(npm) }
}

function manifestPath({ id, options }: Entry): string | undefined {
  if (typeof options['path'] === 'string' && options['path'] !== '') return options['path']
  return isManifestPath(id) ? id : undefined
}
