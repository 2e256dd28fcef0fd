/** Adapters as the configuration wants them (subsystems e.2). */
import { isRecord, type JsonRecord } from '../../protocol/text/json.js'
import { type Documents, LSP_ADAPTERS, type LspAdapter } from '../../protocol/lsp/adapters.js'
import { type AdapterEntry, faultOf, isEndpoint, readEntry } from './entry.js'

export interface ConfiguredAdapter extends LspAdapter {
  readonly name: string
  /** Configured by name: told even where no file speaks for it. */
  readonly isExplicit: boolean
  /** Its command or its endpoint stands in the configuration. */
  readonly ownCommand: boolean
  readonly env: Readonly<Record<string, string>>
  /** What its documents are said to be written in, whatever they are called. */
  readonly documentLanguageId?: string
  readonly initializationOptions?: unknown
  /** What it is told when it asks for its configuration. */
  readonly settings?: unknown
  /** Why its entry cannot be used. */
  readonly fault?: string
}

/**
 * Reads configurations. In the order of the registry, then of the configuration; the same value for the same configuration. A wrong entry has a `fault` and leaves
 * the others alone.
 */
export type Adapters = (lsp: unknown) => readonly ConfiguredAdapter[]

export function createAdapters(env: Environment): Adapters {
  const registry = LSP_ADAPTERS.map((adapter) => (adapter.id === 'godot' ? { ...adapter, endpoint: godotEndpoint(env) } : adapter))
  /** By the configuration they come from, which is another value when it has changed. */
  const known = new WeakMap<JsonRecord, readonly ConfiguredAdapter[]>()
  return (lsp) => {
    if (lsp === false) return NONE
    const entries = isRecord(lsp) ? lsp : NO_ENTRIES
    const made = known.get(entries) ?? readEntries(registry, entries)
    known.set(entries, made)
    return made
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const NONE: readonly ConfiguredAdapter[] = []
const NO_ENTRIES: JsonRecord = {}
const LOOPBACK = '127.0.0.1'

/** The editor Godot says so where its server listens; what is no address is passed over. */
function godotEndpoint({ GODOT_LSP_HOST: host = LOOPBACK, GODOT_LSP_PORT: port = '6005' }: Environment): string {
  return isEndpoint(`${host}:${port}`) ? `${host}:${port}` : `${LOOPBACK}:6005`
}

function readEntries(registry: readonly LspAdapter[], entries: JsonRecord): readonly ConfiguredAdapter[] {
  const known = registry.flatMap((adapter) =>
    Object.hasOwn(entries, adapter.id)
      ? configured(registry, adapter.id, entries[adapter.id])
      : [{ ...adapter, name: adapter.id, isExplicit: false, ownCommand: false, env: {} }],
  )
  const ids = new Set(registry.map(({ id }) => id))
  return [...known, ...Object.entries(entries).flatMap(([id, value]) => (ids.has(id) ? [] : configured(registry, id, value)))]
}

const NOTHING: Omit<LspAdapter, 'id'> = {
  command: [],
  extensions: [],
  names: [],
  markers: [],
  without: [],
  documents: {},
  rootStrategy: 'nearestMarker',
}

function configured(registry: readonly LspAdapter[], id: string, value: unknown): readonly ConfiguredAdapter[] {
  if (value === false) return []
  const own = registry.find((each) => each.id === id)
  const base = { ...(own ?? NOTHING), id, name: id, isExplicit: true, ownCommand: false, env: {} }
  const read = readEntry(value)
  if (!read.success) return [{ ...base, fault: faultOf(read.error) }]
  const entry = read.data
  const { enabled, disabled, adapter: likeId, name = id, documentLanguageId, ...rest } = entry
  if (enabled === false || disabled === true) return []
  const like = likeId === undefined ? own : registry.find((each) => each.id === likeId)
  if (likeId !== undefined && like === undefined) return [{ ...base, name, fault: `there is no adapter "${likeId}"` }]
  const reached = reachedAt(entry, like)
  if (typeof reached === 'string') return [{ ...base, name, fault: reached }]
  const { endpoint: _, language: before, ...kept }: Omit<LspAdapter, 'id'> = like ?? NOTHING
  const { language: ofFiles, ...files } = filesOf(entry, kept.documents, before)
  const { env = {}, initialization, initializationOptions = initialization, settings, markers, rootMarkers = markers, rootStrategy } = rest
  return [
    {
      ...kept,
      id,
      name,
      isExplicit: true,
      ownCommand: entry.command !== undefined || reached.isOwn,
      env,
      initializationOptions,
      settings,
      ...(documentLanguageId !== undefined && { documentLanguageId }),
      ...(reached.endpoint === undefined ? { command: entry.command ?? kept.command } : { command: [], endpoint: reached.endpoint }),
      ...files,
      ...(ofFiles !== undefined && { language: ofFiles }),
      ...(rootMarkers !== undefined && { markers: rootMarkers }),
      ...(rootStrategy !== undefined && { rootStrategy }),
      ...(entry.capabilities !== undefined && { without: entry.capabilities }),
    },
  ]
}

/** Where it is reached when it is no program of ours; a text is why it cannot be. */
function reachedAt(
  { transport, command, endpoint, host, port }: AdapterEntry,
  like: LspAdapter | undefined,
): { readonly endpoint: string | undefined; readonly isOwn: boolean } | string {
  const isOwn = endpoint !== undefined || host !== undefined || port !== undefined
  if (transport === undefined && isOwn && command !== undefined) return 'has a command and an endpoint: "transport" must say which is meant'
  const isSocket = transport === 'tcp' || (transport === undefined && command === undefined && (isOwn || like?.endpoint !== undefined))
  if (!isSocket)
    return command === undefined && (like?.command ?? []).length === 0 ? 'needs a command' : { endpoint: undefined, isOwn: false }
  const [knownHost = LOOPBACK, knownPort] = splitEndpoint(endpoint ?? like?.endpoint)
  const at = port ?? knownPort
  return at === undefined ? 'needs a port' : { endpoint: `${host ?? knownHost}:${at}`, isOwn }
}

/** Host, in brackets when it is written so, and port of what was checked when it was read. */
export function splitEndpoint(endpoint: string | undefined): readonly [host?: string, port?: number] {
  if (endpoint === undefined) return []
  const at = endpoint.lastIndexOf(':')
  return [endpoint.slice(0, at), Number(endpoint.slice(at + 1))]
}

/** The files it is for: those of its routes, else as they are listed, else those of the adapter it is like. */
function filesOf({ routes, extensions, filenamePatterns, language }: AdapterEntry, documents: Documents, before: string | undefined) {
  if (routes === undefined) {
    const listed = { ...(extensions !== undefined && { extensions }), ...(filenamePatterns !== undefined && { names: filenamePatterns }) }
    return { ...listed, language: language ?? before }
  }
  const said = new Map(
    routes.flatMap(({ language: each = language, extensions: ends = [], filenamePatterns: names = [] }) =>
      [...names, ...ends].map((key) => [key, each] as const),
    ),
  )
  const languages = new Set(said.values())
  return {
    extensions: [...new Set(routes.flatMap((each) => each.extensions ?? []))],
    names: [...new Set(routes.flatMap((each) => each.filenamePatterns ?? []))],
    documents: { ...documents, ...Object.fromEntries([...said].flatMap(([key, each]) => (each === undefined ? [] : [[key, each]]))) },
    language: languages.size === 1 ? ([...languages][0] ?? before) : undefined,
  }
}
