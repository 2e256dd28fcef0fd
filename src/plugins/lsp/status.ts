/** Which language servers fit a directory, and why (subsystems e.3). Nothing is started. */
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import type { LspCapability, LspStatus } from '../../protocol/lsp/lsp.js'
import { createLru } from '../../kernel/lru.js'
import { fileUri } from './clients/addresses.js'
import type { Client } from './clients/client.js'
import type { Clients } from './clients/clients.js'
import type { Adapters, ConfiguredAdapter } from './configured.js'
import { createLooks } from './looks.js'
import type { ProgramOf } from './programs.js'
import type { Evidence } from './scan.js'
import { type WideNames, type WidePatterns, widePatterns } from './wide-names.js'

/** Of programs only the search and how they stand: a status cannot start one. */
export interface StatusHost {
  readonly config: NativeHost['config']
  readonly programs: Pick<NativeHost['programs'], 'find' | 'standing'>
  readonly effects: Pick<NativeHost['effects'], 'files' | 'clock'>
}

/** Adapters with a file, a name or a marker in `directory`, and those configured by name. */
export type Status = (directory: string, signal: AbortSignal, clients: Pick<Clients, 'in' | 'of'>) => Promise<LspStatus[]>

/** Rows of a directory as they were before its servers were asked how they are. */
interface Rows {
  readonly evidence: Evidence
  readonly adapters: readonly ConfiguredAdapter[]
  readonly rows: readonly (readonly [ConfiguredAdapter, LspStatus])[]
  /** When programs were looked for last, monotonic. */
  readonly at: number
}

/** How long it is taken for true that a program is there, or is not. */
const PROGRAM_AGE = 1000
const PROGRAMS = 1000

export function createStatus({ config, effects, programs: door }: StatusHost, configured: Adapters, programOf: ProgramOf): Status {
  const looks = createLooks(effects)
  const known = createLru<string, Rows>(LIMITS.lsp.looks)
  const programs = createLru<string, { readonly path: string | undefined; readonly at: number }>(PROGRAMS)

  async function find(program: string, directory: string): Promise<string | undefined> {
    const now = effects.clock.monotonic()
    const key = `${directory}\0${program}`
    const before = programs.get(key)
    if (before !== undefined && now - before.at < PROGRAM_AGE) return before.path
    const path = await door.find(program, directory)
    programs.set(key, { path, at: now })
    return path
  }

  /** One whose program may not start does not serve, whatever else there is to say of it. */
  async function withStanding(directory: string, adapter: ConfiguredAdapter, row: LspStatus): Promise<LspStatus> {
    const program = row.detected.command_available ? await programOf(directory, adapter) : undefined
    if (program === undefined) return row
    const acceptance = await door.standing(program)
    if (acceptance.message === null) return { ...row, acceptance }
    return { ...row, acceptance, status: 'error', detected: { ...row.detected, message: acceptance.message } }
  }

  async function rowsOf(directory: string, signal: AbortSignal): Promise<Rows['rows']> {
    const adapters = configured((await config(directory))['lsp'])
    if (adapters.length === 0) return []
    const evidence = await looks.at(directory, signal)
    const before = known.get(directory)
    const now = effects.clock.monotonic()
    if (before?.evidence === evidence && before.adapters === adapters && now - before.at < PROGRAM_AGE) return before.rows
    const wide = patternsOf(adapters).in(evidence.names.keys())
    const made = await Promise.all(
      adapters.map(async (adapter) => {
        const row = await rowOf(find, directory, adapter, { ...evidence, wide })
        return row === undefined ? [] : [[adapter, row] as const]
      }),
    )
    const rows = made.flat()
    known.set(directory, { evidence, adapters, rows, at: now })
    return rows
  }

  return async (directory, signal, clients) =>
    Promise.all(
      (await rowsOf(directory, signal)).map(async ([adapter, row]) => {
        const standing = await withStanding(directory, adapter, row)
        return asItIs(standing, clientOf(clients, directory, row.workspace.root, adapter))
      }),
    )
}

const patterns = new WeakMap<readonly ConfiguredAdapter[], WidePatterns>()

function patternsOf(adapters: readonly ConfiguredAdapter[]): WidePatterns {
  const known = patterns.get(adapters)
  if (known !== undefined) return known
  const names = adapters.flatMap((each) => each.names)
  const made = widePatterns(
    names,
    adapters.flatMap((each) => each.markers),
  )
  patterns.set(adapters, made)
  return made
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
  find: StatusHost['programs']['find'],
  directory: string,
  adapter: ConfiguredAdapter,
  evidence: Found,
): Promise<LspStatus | undefined> {
  const markers = namesIn(evidence, adapter.markers, evidence.wide.ofMarker)
  const extensions = adapter.extensions.flatMap((extension) => {
    const count = evidence.extensions.get(extension)
    return count === undefined ? [] : [[extension, count] as const]
  })
  const isNamedHere = namesIn(evidence, adapter.names, evidence.wide.ofPattern).length > 0
  if (!adapter.isExplicit && markers.length === 0 && extensions.length === 0 && !isNamedHere) return undefined

  const program = adapter.command[0]
  const found = program !== undefined && adapter.fault === undefined ? await find(program, directory) : undefined
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
    runtime: null,
    acceptance: null,
  }
}

interface Found extends Evidence {
  readonly wide: WideNames
}

/** Names that are written so, then those that patterns stand for. */
function namesIn({ names }: Found, patternsHere: readonly string[], wide: (pattern: string) => readonly string[]): readonly string[] {
  const found = new Set(patternsHere.filter((pattern) => names.has(pattern)))
  for (const pattern of patternsHere) for (const name of wide(pattern)) found.add(name)
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
  if (adapter.endpoint !== undefined) return adapter.ownCommand ? 'config' : 'built_in'
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
