/**
 * The servers of each workspace, and their connections.
 *
 * I1 At most one connection for each server of a workspace: one whose configuration has changed is retired before the next is made.
 * I2 A server that was added stays until the service ends, in the place of one that is configured under its name; one that a workspace brings
 *    takes the place of none.
 * I3 Of the workspaces that have connections, the one that was used longest ago gives them up when there are too many.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import type { InRun, ProjectProgram } from '../../../ports/programs.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { McpConfig } from '../../../protocol/mcp/mcp-config.js'
import { MCP_UNTRIED, type McpStatus } from '../../../protocol/mcp/mcp.js'
import { waitAtMost } from '../../../kernel/patience.js'
import { createPool, type Pool } from '../../../kernel/served.js'
import type { OfferKind } from '../link/lists.js'
import { programOfServer, readBrought } from './brought.js'
import type { Connection } from './connection.js'
import { readServer, readServers, type ServerEntry } from './configured.js'

export interface Workspaces {
  /** What is configured and what was added, by name. */
  entries(directory: string): Promise<ReadonlyMap<string, ServerEntry>>
  /** The connection of a usable server, which need not be connected; undefined for every other name. */
  connection(directory: string, server: string): Promise<Connection | undefined>
  /** Connections there are, in the order of their names. Cheap. */
  connections(directory: string): readonly Connection[]
  /** Of every workspace. */
  all(): readonly Connection[]
  /** Connects what is configured, waiting for what was never tried, as long as `firstWait` at most. */
  prepare(directory: string, signal: AbortSignal, run?: InRun): Promise<void>
  status(directory: string): Promise<Record<string, McpStatus>>
  add(directory: string, server: string, config: unknown): Promise<ServerEntry>
  isAdded(directory: string, server: string): boolean
  /** Resolves when nothing runs of what was given up. */
  ended(): Promise<void>
  /** Ends everything; nothing is connected after it. */
  stop(): Promise<void>
}

interface ServerPlace {
  readonly server: string
  readonly directory: string
  readonly config: McpConfig
  readonly program: ProjectProgram
}

export interface WorkspacesDeps {
  readonly config: NativeHost['config']
  readonly brought: NativeHost['configEntries']['brought']
  readonly programs: Pick<NativeHost['programs'], 'standing' | 'isDenied'>
  readonly clock: NativeHost['effects']['clock']
  connect(place: ServerPlace, onOffers: (kind: OfferKind | 'all') => void): Connection
  onOffers(directory: string, server: string, kind: OfferKind | 'all'): void
  /** Whether people sign in to the server, and nobody has. */
  wantsSignIn(server: string, config: McpConfig): Promise<boolean>
}

/** The servers that were added, by name. */
type Added = Map<string, ServerEntry>

interface Servers {
  readonly deps: WorkspacesDeps
  /** The one that was used longest ago comes first. */
  readonly workspaces: Map<string, Added>
  readonly pool: Pool<ServerPlace, Connection>
}

const UNTRIED: McpStatus = { status: 'failed', error: MCP_UNTRIED }

export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const servers: Servers = {
    deps,
    workspaces: new Map(),
    pool: createPool((place: ServerPlace) => deps.connect(place, (kind) => deps.onOffers(place.directory, place.server, kind))),
  }
  const { workspaces, pool } = servers
  return {
    entries: (directory) => entriesOf(servers, directory),
    async connection(directory, server) {
      await settle(servers, directory)
      return pool.known(keyOf(directory, server))
    },
    connections: (directory) => sortedIn(servers, directory),
    all: () => [...workspaces.keys()].flatMap((directory) => sortedIn(servers, directory)),
    prepare: (directory, signal, run) => prepare(servers, directory, signal, run),
    async status(directory) {
      const wanted = await entriesOf(servers, directory)
      await settle(servers, directory)
      const rows = [...wanted].map(
        async ([name, entry]) => [name, await statusOf(deps, name, entry, pool.known(keyOf(directory, name)))] as const,
      )
      return Object.fromEntries(await Promise.all(rows))
    },
    async add(directory, server, config) {
      const entry = readServer(server, config)
      if (entry.kind !== 'wrong') addedIn(servers, directory).set(server, entry)
      await settle(servers, directory)
      return entry
    },
    isAdded: (directory, server) => workspaces.get(directory)?.has(server) === true,
    ended: () => pool.ended(),
    stop: () => pool.stop(),
  }
}

const keyOf = (directory: string, server: string): string => `${directory}\0${server}`

/** What was added in a workspace, which is used now. */
function addedIn({ workspaces, pool }: Servers, directory: string): Added {
  const known = workspaces.get(directory) ?? new Map<string, ServerEntry>()
  workspaces.delete(directory)
  workspaces.set(directory, known)
  for (const oldest of workspaces.keys()) {
    if (workspaces.size <= LIMITS.mcp.workspaces) break
    workspaces.delete(oldest) // I3
    void pool.retire((connection) => connection.directory === oldest)
  }
  return known
}

async function entriesOf(servers: Servers, directory: string): Promise<ReadonlyMap<string, ServerEntry>> {
  const { deps } = servers
  const configured = readServers((await deps.config(directory))['mcp'])
  const added = addedIn(servers, directory)
  const brought = Object.entries(await deps.brought(directory, 'mcp')).slice(0, LIMITS.mcp.servers)
  if (added.size + brought.length === 0) return configured
  const read = brought.map(async ([server, value]) => [server, await readBrought(deps.programs, { directory, server }, value)] as const)
  return new Map([...configured, ...(await Promise.all(read)), ...added])
}

/** I1: makes the connections be what the configuration says. */
async function settle(servers: Servers, directory: string): Promise<void> {
  const { pool } = servers
  const wanted = await entriesOf(servers, directory)
  addedIn(servers, directory)
  void pool.retire((connection, text) => {
    const entry = wanted.get(connection.server)
    return connection.directory === directory && (entry?.kind !== 'usable' || entry.text !== text)
  })
  for (const [server, entry] of wanted) {
    if (entry.kind !== 'usable' || pool.known(keyOf(directory, server)) !== undefined) continue
    const { config, text, program = programOfServer(directory, server, config, 'installation') } = entry
    pool.of(keyOf(directory, server), text, { server, directory, config, program })
  }
}

async function prepare(servers: Servers, directory: string, signal: AbortSignal, run: InRun | undefined): Promise<void> {
  await settle(servers, directory)
  const first: Promise<void>[] = []
  for (const connection of connectionsIn(servers, directory)) {
    if (connection.isConnected || !(await connection.mayConnect(run))) continue
    const work = connection.connect('wanted')
    if (!connection.wasTried) first.push(work)
  }
  if (first.length === 0) return
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await waitAtMost(servers.deps.clock, Promise.race([Promise.all(first), aborted]), LIMITS.mcp.firstWait)
}

/** Before a first attempt, or after the last connection was ended, what is missing is told (subsystems f.2). */
async function statusOf(
  { wantsSignIn }: WorkspacesDeps,
  server: string,
  entry: ServerEntry,
  connection: Connection | undefined,
): Promise<McpStatus> {
  if (entry.kind === 'disabled' || entry.kind === 'unaccepted') return { status: 'disabled' }
  if (entry.kind === 'wrong') return { status: 'failed', error: entry.error }
  const status = connection?.status ?? UNTRIED
  const isUntried = 'error' in status && status.error === MCP_UNTRIED
  return isUntried && (await wantsSignIn(server, entry.config)) ? { status: 'needs_auth' } : status
}

function connectionsIn({ pool }: Servers, directory: string): readonly Connection[] {
  return pool.all().filter((connection) => connection.directory === directory)
}

function sortedIn(servers: Servers, directory: string): readonly Connection[] {
  return connectionsIn(servers, directory).toSorted((a, b) => (a.server < b.server ? -1 : 1))
}
