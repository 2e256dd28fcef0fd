/**
 * One server of one workspace: its actor, its session, and what it offers (subsystems f.2, f.3).
 *
 * I1 Whoever uses it connects it. A use that meets a session the server has forgotten is repeated once, in a new one.
 * I2 What it offers stays offered while a lost connection can be made anew, and goes when it is ended or cannot be made.
 * I3 Neither a person nor a model is asked anything in the name of a server unless all calls it is working on belong to one session.
 */
import type { Client, CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { type AnyEventObject, createActor, fromCallback, fromPromise } from 'xstate'
import type { NativeHost, ToolContext } from '../../../ports/plugin.js'
import {
  type McpConnected,
  type McpConnectionEvent,
  type McpConnectionInput,
  mcpConnectionMachine,
} from '../../../machines/mcp/mcp-connection.machine.js'
import type { InRun, ProjectProgram } from '../../../ports/programs.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { McpConfig } from '../../../protocol/mcp/mcp-config.js'
import { MCP_UNTRIED, type McpStatus } from '../../../protocol/mcp/mcp.js'
import { troubleOf } from '../link/failures.js'
import { listOffers, NO_OFFERS, type OfferKind, type Offers } from '../link/lists.js'
import { createReadingAnew } from './reading-anew.js'
import { type Authorization, type Library, openSession, type Session, type SessionDeps } from '../link/session.js'

export interface Connection {
  readonly server: string
  readonly directory: string
  readonly config: McpConfig
  readonly status: McpStatus
  readonly isConnected: boolean
  readonly offers: Offers
  /** An attempt to connect has settled, one way or the other. */
  readonly wasTried: boolean
  /** False where a rule of the run denies the line of a server that a workspace brings (decision 34). */
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

export interface ConnectionDeps extends SessionDeps {
  readonly actors: NativeHost['actors']
  readonly programs: Pick<NativeHost['programs'], 'open' | 'isDenied'>
  /** What is offered has changed. */
  onOffers(kind: OfferKind | 'all'): void
  ask(request: ElicitRequest['params'], context: ToolContext, signal: AbortSignal): Promise<ElicitResult>
  sample(request: CreateMessageRequest['params'], context: ToolContext, signal: AbortSignal): Promise<CreateMessageResult>
}

export interface ConnectionPlace extends McpConnectionInput {
  readonly config: McpConfig
  readonly program: ProjectProgram
  readonly authorization: Authorization | undefined
  /** Its authorization server takes no client that it does not know. */
  isUnregistered(): boolean
}

const UNREGISTERED = 'its authorization server registers no clients: configure "oauth.clientId"'

export function createConnection(deps: ConnectionDeps, place: ConnectionPlace): Connection {
  const { clock, log } = deps.effects
  const { server, directory, config, authorization } = place
  let session: Session | undefined
  let opening: Promise<unknown> = Promise.resolve()
  let offers: Offers = NO_OFFERS
  let wasTried = false
  const calls = new Set<ToolContext>()
  const asked = new WeakMap<ToolContext, number>()
  const changed = createReadingAnew(clock, readAnew, () =>
    log.warn('a server says again and again that its lists have changed', { server }),
  )

  function setOffers(next: Offers, kind: OfferKind | 'all'): void {
    if (next === offers) return
    offers = next
    deps.onOffers(kind)
  }

  async function open(signal: AbortSignal): Promise<McpConnected> {
    await closeSession() // I4 of the machine
    const listener = {
      onLost: (reason: string) => tell({ type: 'connection.lost', reason }),
      onChanged: changed.note,
      onAsked,
      onSampled,
    }
    try {
      const opened = await openSession(deps, place, listener, signal).catch((error: unknown) => {
        throw deps.secrets.hidden(error)
      })
      session = opened
      if (signal.aborted) await closeSession()
      else {
        for (const [kind, { cut }] of Object.entries(opened.offers))
          if (cut !== undefined) log.warn('a server offers more than is used', { server, list: kind, reason: cut })
        setOffers(opened.offers, 'all')
      }
      return 'connected'
    } catch (error) {
      setOffers(NO_OFFERS, 'all')
      if (signal.aborted) throw error
      const trouble = troubleOf(await import('@modelcontextprotocol/client'), error, false)
      if (trouble === 'authorization' && authorization !== undefined) return place.isUnregistered() ? 'unregistered' : 'unauthorised'
      log.info('a server is not connected', { server, directory, cause: error instanceof Error ? error.message : String(error) })
      throw error
    } finally {
      wasTried = true
    }
  }

  async function closeSession(): Promise<void> {
    const closing = session
    session = undefined
    await closing?.close()
  }

  async function readAnew(kinds: readonly OfferKind[]): Promise<void> {
    const { client } = session ?? {}
    if (client === undefined) return
    try {
      const next = await listOffers(client, { timeout: config.timeout, signal: new AbortController().signal })
      if (session?.client !== client) return
      const differ = kinds.filter((kind) => JSON.stringify(next[kind]) !== JSON.stringify(offers[kind]))
      const [first] = differ
      if (first === undefined) return
      setOffers({ ...offers, ...Object.fromEntries(differ.map((kind) => [kind, next[kind]])) }, differ.length === 1 ? first : 'all')
    } catch (error) {
      log.info('what a server offers could not be read anew', { server, cause: String(error) })
    }
  }

  /** I3 */
  function asker(): ToolContext | undefined {
    const sessions = new Set([...calls].map(({ sessionId }) => sessionId))
    const [context] = calls
    return sessions.size > 1 ? undefined : context
  }

  async function onAsked(request: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const context = asker()
    const count = context === undefined ? 0 : (asked.get(context) ?? 0) + 1
    if (context === undefined || count > LIMITS.mcp.elicitations) return { action: 'cancel' }
    asked.set(context, count)
    return deps.ask(request, context, signal)
  }

  async function onSampled(request: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult> {
    const context = asker()
    if (context === undefined) throw new Error('The model is asked during the calls of one session only.')
    return deps.sample(request, context, signal)
  }

  const logic = mcpConnectionMachine.provide({
    actors: {
      connect: fromPromise<McpConnected, McpConnectionInput>(({ signal }) => {
        const work = opening.then(() => open(signal))
        opening = work.catch(() => undefined)
        return work
      }),
      serve: fromCallback<AnyEventObject, McpConnectionInput>(() => () => changed.clear()),
      close: fromPromise<void, McpConnectionInput>(async () => {
        await opening
        await closeSession()
      }),
    },
  })
  const actor = createActor(logic, { id: `mcp:${server}`, input: { server, directory }, clock })
  actor.subscribe({ error: (error) => log.error('the actor of a server crashed', { server, cause: String(error) }) })
  deps.actors.add(actor, 'mcp-connection')
  actor.start()

  function tell(event: McpConnectionEvent): void {
    if (actor.getSnapshot().status === 'active') actor.send(event)
  }

  /** Resolves once nothing is being opened or closed. */
  function settled(): Promise<void> {
    return new Promise((resolve) => {
      const isSettled = (snapshot = actor.getSnapshot()) => snapshot.status !== 'active' || snapshot.hasTag('settled')
      if (isSettled()) return resolve()
      const subscription = actor.subscribe({
        next(snapshot) {
          if (!isSettled(snapshot)) return
          subscription.unsubscribe()
          resolve()
        },
        complete: resolve,
        error: () => resolve(),
      })
    })
  }

  async function connect(how: 'wanted' | 'requested'): Promise<void> {
    const before = actor.getSnapshot()
    if (before.hasTag('connected')) return
    if (!before.hasTag('settled') && !before.matches('connecting')) await settled()
    tell({ type: `connect.${how}` })
    await settled()
  }

  const mayConnect = async (run: InRun | undefined) =>
    run === undefined || place.program.isNamed || config.type === 'remote' || !(await deps.programs.isDenied(place.program, run))

  async function attempt<T>(
    work: (client: Client, library: Library) => Promise<T>,
    run: InRun | undefined,
  ): Promise<{ readonly value: T } | 'again'> {
    if (!actor.getSnapshot().hasTag('connected') && !(await mayConnect(run)))
      throw new SvcError('request.unprocessable', `The server "${server}" is not connected: a rule of this agent denies its command.`, {
        server,
      })
    await connect('wanted')
    const mine = session
    if (mine === undefined)
      throw new SvcError('request.unprocessable', `The server "${server}" is not connected: ${reasonOf()}.`, { server })
    const library = await import('@modelcontextprotocol/client')
    try {
      return { value: deps.secrets.hiddenResult(await work(mine.client, library)) }
    } catch (thrown) {
      const error = deps.secrets.hidden(thrown)
      const trouble = troubleOf(library, error, mine.hasId)
      if (trouble === 'connection')
        throw new SvcError('request.unprocessable', `The server "${server}" was lost: ${reasonOf()}.`, { server }, { cause: error })
      if (session !== mine) throw error
      if (trouble === 'authorization' && authorization !== undefined) {
        if (error instanceof library.InsufficientScopeError && error.requiredScope !== undefined) authorization.needs(error.requiredScope)
        tell({ type: 'authorization.lost' })
      }
      if (trouble !== 'session') throw error
      tell({ type: 'session.lost' })
      return 'again'
    }
  }

  function reasonOf(): string {
    const { context } = actor.getSnapshot()
    const { status } = statusNow()
    return status === 'needs_auth' ? 'somebody has to sign in' : (context.reason ?? MCP_UNTRIED)
  }

  function statusNow(): McpStatus {
    const snapshot = actor.getSnapshot()
    if (snapshot.hasTag('connected')) return { status: 'connected' }
    if (snapshot.matches('unauthorised')) return { status: 'needs_auth' }
    if (snapshot.matches('unregistered')) return { status: 'needs_client_registration', error: UNREGISTERED }
    const error = snapshot.context.reason ?? (snapshot.matches('connecting') ? 'being connected' : MCP_UNTRIED)
    return { status: 'failed', error }
  }

  return {
    server,
    directory,
    config,
    get status() {
      return statusNow()
    },
    get isConnected() {
      return actor.getSnapshot().hasTag('connected')
    },
    get offers() {
      return offers
    },
    get wasTried() {
      return wasTried
    },
    connect,
    mayConnect,
    async use(work, context) {
      if (context !== undefined) calls.add(context)
      try {
        const first = await attempt(work, context)
        const outcome = first === 'again' ? await attempt(work, context) : first
        if (outcome !== 'again') return outcome.value
        throw new SvcError('request.unprocessable', `The server "${server}" forgets its sessions.`, { server })
      } finally {
        if (context !== undefined) calls.delete(context)
      }
    },
    async disconnect() {
      tell({ type: 'disconnect.requested' })
      setOffers(NO_OFFERS, 'all')
      await settled()
    },
    noteSignedOut: () => tell({ type: 'authorization.lost' }),
    async retire() {
      changed.end()
      tell({ type: 'retire.requested' })
      setOffers(NO_OFFERS, 'all')
      await settled()
    },
  }
}
