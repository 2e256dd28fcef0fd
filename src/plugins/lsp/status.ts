/** Which language servers fit a directory, and why (subsystems e.3). Nothing is started. */
import type { NativeHost } from '../../actors/plugin/native/native.js'
import { LIMITS } from '../../protocol/limits.js'
import { isMarker, isNamed, isWide } from '../../protocol/lsp/adapters.js'
import { type LspCapability, type LspStatus } from '../../protocol/lsp/lsp.js'
import { fileUri } from './clients/addresses.js'
import type { Client } from './clients/client.js'
import type { Clients } from './clients/clients.js'
import { type ConfiguredAdapter, configuredAdapters } from './configured.js'
import { type Evidence, lookAt } from './scan.js'

/** Of processes only the search: a status cannot start one. */
interface Host {
  readonly config: NativeHost['config']
  readonly effects: Pick<NativeHost['effects'], 'files'> & { readonly processes: Pick<NativeHost['effects']['processes'], 'find'> }
}

/** Adapters with a file, a name or a marker in `directory`, and those configured by name. */
export async function statusOf(
  { config, effects }: Host,
  directory: string,
  signal: AbortSignal,
  clients: Pick<Clients, 'in' | 'of'>,
): Promise<LspStatus[]> {
  const adapters = configuredAdapters((await config(directory))['lsp'])
  if (adapters.length === 0) return []
  const evidence = await lookAt(effects, directory, signal)
  const rows = await Promise.all(adapters.map((adapter) => rowOf(effects, directory, adapter, evidence)))
  return rows.flatMap((row, index) => {
    const adapter = adapters[index]
    return row === undefined || adapter === undefined ? [] : [asItIs(row, clientOf(clients, directory, row.workspace.root, adapter))]
  })
}

/** The server of the project of the row, else one of another project of the directory. */
function clientOf(clients: Pick<Clients, 'in' | 'of'>, directory: string, root: string, adapter: ConfiguredAdapter): Client | undefined {
  const own = clients.of(directory, root, adapter)
  if (own !== undefined) return own
  return clients.in(directory).find((each) => each.adapter.id === adapter.id && clients.of(directory, each.root, adapter) === each)
}

/** `connected` while its server runs, `error` while that is broken; both for the project it runs for. */
function asItIs(row: LspStatus, client: Client | undefined): LspStatus {
  if (client === undefined || row.status === 'error') return row
  const at = { ...row, workspace: { root: client.root, root_uri: fileUri(client.root) } }
  if (client.isReady) return { ...at, status: 'connected' }
  return client.reason === undefined ? row : { ...at, status: 'error', detected: { ...row.detected, message: client.reason } }
}

async function rowOf(
  { processes }: Host['effects'],
  directory: string,
  adapter: ConfiguredAdapter,
  evidence: Evidence,
): Promise<LspStatus | undefined> {
  const markers = namesIn(evidence, adapter.markers, isMarker)
  const extensions = adapter.extensions.flatMap((extension) => {
    const count = evidence.extensions.get(extension)
    return count === undefined ? [] : [[extension, count] as const]
  })
  const isNamedHere = namesIn(evidence, adapter.names, isNamed).length > 0
  if (!adapter.isExplicit && markers.length === 0 && extensions.length === 0 && !isNamedHere) return undefined

  const program = adapter.command[0]
  const found = program !== undefined && adapter.fault === undefined ? await processes.find(program) : undefined
  const isThere = adapter.fault === undefined && (adapter.endpoint !== undefined || found !== undefined)
  const root = rootOf(directory, markers, evidence)
  return {
    id: adapter.id,
    name: adapter.name,
    status: isThere ? 'available' : 'error',
    language: adapter.language ?? adapter.id,
    command: adapter.endpoint === undefined ? [...adapter.command] : [`tcp://${adapter.endpoint}`],
    command_source: sourceOf(adapter, isThere),
    workspace: { root, root_uri: fileUri(root) },
    capabilities: capabilitiesOf(adapter, isThere),
    detected: {
      files: evidence.files,
      markers: markers.slice(0, LIMITS.lsp.evidence),
      extensions: Object.fromEntries(extensions.slice(0, LIMITS.lsp.evidence)),
      command_available: isThere,
      message: isThere ? null : (adapter.fault ?? `The program "${program}" was not found.`),
    },
  }
}

/** Only patterns that are no plain name are held against every name. */
function namesIn({ names }: Evidence, patterns: readonly string[], matches: (pattern: string, name: string) => boolean): readonly string[] {
  const wide = patterns.filter(isWide)
  const found = new Set(patterns.filter((pattern) => names.has(pattern)))
  if (wide.length > 0) for (const name of names.keys()) if (wide.some((pattern) => matches(pattern, name))) found.add(name)
  return [...found]
}

/** The workspace where it is a project itself, else the project in it that is nearest to its root. */
function rootOf(directory: string, markers: readonly string[], { names }: Evidence): string {
  const depthOf = (path: string) => path.split('/').length
  const places = markers.flatMap((marker) => names.get(marker) ?? [])
  return places.toSorted((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1))[0] ?? directory
}

/** A name in the configuration is still found on the search path; a path there is the word of the configuration. */
function sourceOf(adapter: ConfiguredAdapter, isThere: boolean): LspStatus['command_source'] {
  if (!isThere) return 'missing'
  if (adapter.endpoint !== undefined) return 'built_in'
  return adapter.ownCommand && adapter.command[0]?.includes('/') === true ? 'config' : 'path'
}

function capabilitiesOf({ without }: ConfiguredAdapter, isThere: boolean): LspStatus['capabilities'] {
  const has = (capability: LspCapability) => isThere && !without.includes(capability)
  return {
    workspace_symbols: has('workspace_symbols'),
    completion: has('completion'),
    hover: has('hover'),
    definition: has('definition'),
    references: has('references'),
    implementation: has('implementation'),
    call_hierarchy: has('call_hierarchy'),
    diagnostics: has('diagnostics'),
    document_symbols: has('document_symbols'),
    formatting: has('formatting'),
    code_actions: has('code_actions'),
    rename: has('rename'),
  }
}
