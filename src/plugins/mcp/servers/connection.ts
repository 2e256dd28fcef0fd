/**
 * One server of one workspace: its actor, its session, and what it offers (subsystems f.2, f.3).
 *
 * I1 Whoever uses it connects it. A use that meets a session the server has forgotten is repeated once, in a new one.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import type { Client } from '@modelcontextprotocol/client'
import { type Actor, type AnyEventObject, createActor, fromCallback, fromPromise, type SnapshotFrom } from 'xstate'
import type { ToolContext } from '../../../ports/plugin.js'
import {
  type McpConnected,
  type McpConnectionEvent,
  type McpConnectionInput,
  mcpConnectionMachine,
} from '../../../machines/mcp/mcp-connection.machine.js'
import type { InRun } from '../../../ports/programs.js'
import { SvcError } from '../../../protocol/errors.js'
import type { McpConfig } from '../../../protocol/mcp/mcp-config.js'
import { MCP_UNTRIED, type McpStatus } from '../../../protocol/mcp/mcp.js'
import { createLane } from '../../../kernel/lane.js'
import { reached } from '../../../kernel/reached.js'
import { troubleOf } from '../link/failures.js'
import type { Offers } from '../link/lists.js'
import type { Library, Session } from '../link/session.js'
import { closeServer, type ConnectionDeps, type ConnectionPlace, createServer, openServer, type Server, withdrawOffers } from './opened.js'

export interface Connection {
  readonly server: string
  readonly directory: string
  readonly config: McpConfig
  readonly status: McpStatus
  readonly isConnected: boolean
  readonly offers: Offers
  /** An attempt to connect has settled, one way or the other. */
  readonly wasTried: boolean
  /** False where a rule of the run denies the line of a server that a workspace brings (choice 34). */
  mayConnect(run: InRun | undefined): Promise<boolean>
  /** Resolves once it is connected or is not going to be; a rest is kept unless it is `requested`. */
  connect(how: 'wanted' | 'requested'): Promise<void>
  /** Uses it, for a call of a session when `context` is given. Throws `request.unprocessable` when it cannot be connected, else what the work throws. */
  use<T>(work: (client: Client, library: Library) => Promise<T>, context?: ToolContext): Promise<T>
  /** Resolves when nothing of it runs. */
  disconnect(): Promise<void>
  /** Whoever was signed in is not any more: somebody has to sign in before it is connected again. */
  noteSignedOut(): void
  /** As `disconnect`, for good. */
  retire(): Promise<void>
}

type ConnectionActor = Actor<typeof mcpConnectionMachine>

/** A server and its actor, for those who use it. */
interface Linked {
  readonly server: Server
  readonly actor: ConnectionActor
}

type Work<T> = (client: Client, library: Library) => Promise<T>

const UNREGISTERED = 'its authorization server registers no clients: configure "oauth.clientId"'

export function createConnection(deps: ConnectionDeps, place: ConnectionPlace): Connection {
  const { clock, log } = deps.effects
  const { server: name, directory, config } = place
  const server = createServer(deps, place, (event) => tell(actor, event))
  const actor: ConnectionActor = createActor(logicOf(server), { id: `mcp:${name}`, input: { server: name, directory }, clock })
  const linked: Linked = { server, actor }
  actor.subscribe({ error: (error) => log.error('the actor of a server crashed', { server: name, cause: String(error) }) })
  deps.actors.add(actor, 'mcp-connection')
  actor.start()
  return {
    server: name,
    directory,
    config,
    get status() {
      return statusOf(actor.getSnapshot())
    },
    get isConnected() {
      return actor.getSnapshot().hasTag('connected')
    },
    get offers() {
      return server.offers
    },
    get wasTried() {
      return server.wasTried
    },
    connect: (how) => connect(actor, how),
    mayConnect: (run) => mayConnect(server, run),
    use: (work, context) => use(linked, work, context),
    async disconnect() {
      tell(actor, { type: 'disconnect.requested' })
      withdrawOffers(server)
      await settled(actor)
    },
    noteSignedOut: () => tell(actor, { type: 'authorization.lost' }),
    async retire() {
      server.changed.end()
      tell(actor, { type: 'retire.requested' })
      withdrawOffers(server)
      await settled(actor)
    },
  }
}

/** The machine asks for three at most: an opening, its end while that goes on, and the last end. */
const AT_ONCE = 3

/** What its machine asks for, one after the other: an opening that was given up ends before what it left is closed. */
function logicOf(server: Server): typeof mcpConnectionMachine {
  const lane = createLane({ most: AT_ONCE })
  return chartOf(mcpConnectionMachine).provide({
    actors: {
      connect: fromPromise<McpConnected, McpConnectionInput>(({ signal }) => lane.run(() => openServer(server, signal))),
      serve: fromCallback<AnyEventObject, McpConnectionInput>(() => () => server.changed.clear()),
      close: fromPromise<void, McpConnectionInput>(() => lane.run(() => closeServer(server))),
    },
  })
}

function tell(actor: ConnectionActor, event: McpConnectionEvent): void {
  if (actor.getSnapshot().status === 'active') actor.send(event)
}

/** Resolves once nothing is being opened or closed. */
function settled(actor: ConnectionActor): Promise<void> {
  return reached(actor, (snapshot) => snapshot.hasTag('settled'))
}

async function connect(actor: ConnectionActor, how: 'wanted' | 'requested'): Promise<void> {
  const before = actor.getSnapshot()
  if (before.hasTag('connected')) return
  if (!before.hasTag('settled') && !before.hasTag('connecting')) await settled(actor)
  tell(actor, { type: `connect.${how}` })
  await settled(actor)
}

async function mayConnect({ deps, place }: Server, run: InRun | undefined): Promise<boolean> {
  if (run === undefined || place.program.isNamed || place.config.type === 'remote') return true
  return !(await deps.programs.isDenied(place.program, run))
}

/** I1 */
async function use<T>(linked: Linked, work: Work<T>, context: ToolContext | undefined): Promise<T> {
  const { calls, place } = linked.server
  if (context !== undefined) calls.add(context)
  try {
    const first = await attempt(linked, work, context)
    const outcome = first === 'again' ? await attempt(linked, work, context) : first
    if (outcome !== 'again') return outcome.value
    throw unprocessable(place.server, 'forgets its sessions')
  } finally {
    if (context !== undefined) calls.delete(context)
  }
}

async function attempt<T>({ server, actor }: Linked, work: Work<T>, run: InRun | undefined): Promise<{ readonly value: T } | 'again'> {
  const { deps, place } = server
  if (!actor.getSnapshot().hasTag('connected') && !(await mayConnect(server, run)))
    throw unprocessable(place.server, 'is not connected: a rule of this agent denies its command')
  await connect(actor, 'wanted')
  const { session } = server
  if (session === undefined) throw unprocessable(place.server, `is not connected: ${reasonOf(actor.getSnapshot())}`)
  const library = await import('@modelcontextprotocol/client')
  try {
    return { value: deps.secrets.hiddenResult(await work(session.client, library)) }
  } catch (thrown) {
    const error = deps.secrets.hidden(thrown)
    noteTrouble({ server, actor }, session, library, error)
    return 'again'
  }
}

/** Tells the machine what failed; throws unless the work is to be done again. */
function noteTrouble({ server, actor }: Linked, used: Session, library: Library, error: unknown): void {
  const { server: name, authorization } = server.place
  const trouble = troubleOf(library, error, used.hasId)
  if (trouble === 'connection') throw unprocessable(name, `was lost: ${reasonOf(actor.getSnapshot())}`, error)
  if (server.session !== used) throw error
  if (trouble === 'authorization' && authorization !== undefined) {
    if (error instanceof library.InsufficientScopeError && error.requiredScope !== undefined) authorization.needs(error.requiredScope)
    tell(actor, { type: 'authorization.lost' })
  }
  if (trouble !== 'session') throw error
  tell(actor, { type: 'session.lost' })
}

function unprocessable(server: string, what: string, cause?: unknown): SvcError {
  const more = cause === undefined ? undefined : { cause }
  return new SvcError('request.unprocessable', `The server "${server}" ${what}.`, { server }, more)
}

type Snapshot = SnapshotFrom<typeof mcpConnectionMachine>

function reasonOf(snapshot: Snapshot): string {
  return snapshot.hasTag('unauthorised') ? 'somebody has to sign in' : (snapshot.context.reason ?? MCP_UNTRIED)
}

function statusOf(snapshot: Snapshot): McpStatus {
  if (snapshot.hasTag('connected')) return { status: 'connected' }
  if (snapshot.hasTag('unauthorised')) return { status: 'needs_auth' }
  if (snapshot.hasTag('unregistered')) return { status: 'needs_client_registration', error: UNREGISTERED }
  return { status: 'failed', error: snapshot.context.reason ?? (snapshot.hasTag('connecting') ? 'being connected' : MCP_UNTRIED) }
}
