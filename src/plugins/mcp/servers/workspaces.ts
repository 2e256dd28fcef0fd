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

interface Workspace {
  readonly added: Map<string, ServerEntry>
  readonly connections: Map<string, { readonly connection: Connection; readonly text: string }>
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

const UNTRIED: McpStatus = { status: 'failed', error: MCP_UNTRIED }

export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const workspaces = new Map<string, Workspace>()
  const ending = new Set<Promise<void>>()
  const over = new AbortController()

  function workspaceOf(directory: string): Workspace {
    const known = workspaces.get(directory) ?? { added: new Map(), connections: new Map() }
    workspaces.delete(directory)
    workspaces.set(directory, known)
    for (const [oldest, workspace] of workspaces) {
      if (workspaces.size <= LIMITS.mcp.workspaces) break
      workspaces.delete(oldest) // I3
      for (const name of workspace.connections.keys()) retire(workspace, name)
    }
    return known
  }

  function retire({ connections }: Workspace, server: string): void {
    const gone = connections.get(server)
    connections.delete(server)
    if (gone === undefined) return
    const work = gone.connection.retire().finally(() => ending.delete(work))
    ending.add(work)
  }

  async function entries(directory: string): Promise<ReadonlyMap<string, ServerEntry>> {
    const configured = readServers((await deps.config(directory))['mcp'])
    const { added } = workspaceOf(directory)
    const brought = Object.entries(await deps.brought(directory, 'mcp')).slice(0, LIMITS.mcp.servers)
    if (added.size + brought.length === 0) return configured
    const read = brought.map(async ([server, value]) => [server, await readBrought(deps.programs, { directory, server }, value)] as const)
    return new Map([...configured, ...(await Promise.all(read)), ...added])
  }

  /** I1: makes the connections be what the configuration says. */
  async function settle(directory: string): Promise<Workspace> {
    const wanted = await entries(directory)
    const workspace = workspaceOf(directory)
    for (const [name, { text }] of workspace.connections) {
      const entry = wanted.get(name)
      if (entry?.kind !== 'usable' || entry.text !== text) retire(workspace, name)
    }
    if (over.signal.aborted) return workspace
    for (const [server, entry] of wanted) {
      if (entry.kind !== 'usable' || workspace.connections.has(server)) continue
      const { config, text, program = programOfServer(directory, server, config, 'installation') } = entry
      const connection = deps.connect({ server, directory, config, program }, (kind) => deps.onOffers(directory, server, kind))
      workspace.connections.set(server, { connection, text })
    }
    return workspace
  }

  /** Before a first attempt, or after the last connection was ended, what is missing is told (subsystems f.2). */
  async function statusOf(server: string, entry: ServerEntry, connection: Connection | undefined): Promise<McpStatus> {
    if (entry.kind === 'disabled' || entry.kind === 'unaccepted') return { status: 'disabled' }
    if (entry.kind === 'wrong') return { status: 'failed', error: entry.error }
    const status = connection?.status ?? UNTRIED
    const isUntried = 'error' in status && status.error === MCP_UNTRIED
    return isUntried && (await deps.wantsSignIn(server, entry.config)) ? { status: 'needs_auth' } : status
  }

  const sorted = ({ connections }: Workspace) =>
    [...connections.values()].map(({ connection }) => connection).toSorted((a, b) => (a.server < b.server ? -1 : 1))

  return {
    entries,
    async connection(directory, server) {
      return (await settle(directory)).connections.get(server)?.connection
    },
    connections(directory) {
      const workspace = workspaces.get(directory)
      return workspace === undefined ? [] : sorted(workspace)
    },
    all: () => [...workspaces.values()].flatMap(sorted),
    async prepare(directory, signal, run) {
      const { connections } = await settle(directory)
      const first: Promise<void>[] = []
      for (const { connection } of connections.values()) {
        if (connection.isConnected || !(await connection.mayConnect(run))) continue
        const work = connection.connect('wanted')
        if (!connection.wasTried) first.push(work)
      }
      if (first.length === 0) return
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await waitAtMost(deps.clock, Promise.race([Promise.all(first), aborted]), LIMITS.mcp.firstWait)
    },
    async status(directory) {
      const wanted = await entries(directory)
      const { connections } = await settle(directory)
      const rows = [...wanted].map(async ([name, entry]) => [name, await statusOf(name, entry, connections.get(name)?.connection)] as const)
      return Object.fromEntries(await Promise.all(rows))
    },
    async add(directory, server, config) {
      const entry = readServer(server, config)
      if (entry.kind !== 'wrong') workspaceOf(directory).added.set(server, entry)
      await settle(directory)
      return entry
    },
    isAdded: (directory, server) => workspaces.get(directory)?.added.has(server) === true,
    ended: async () => void (await Promise.all(ending)),
    async stop() {
      over.abort()
      for (const workspace of workspaces.values()) for (const name of workspace.connections.keys()) retire(workspace, name)
      await Promise.all(ending)
    },
  }
}
